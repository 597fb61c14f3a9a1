import { mkdir } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import S3rver from 's3rver';
import type { S3Config } from '../../src/platform/config/app-config.js';

export interface TestS3 {
  config: S3Config;
  stop(): Promise<void>;
}

/** Starts a small S3 server with one bucket on a free loopback port that stores objects in a folder. */
export async function startTestS3(directory: string): Promise<TestS3> {
  await mkdir(directory, { recursive: true });
  const server = new S3rver({
    address: '127.0.0.1',
    port: 0,
    silent: true,
    directory,
    configureBuckets: [{ name: 'gateway', configs: [] }],
  });
  const { port } = (await server.run()) as AddressInfo;
  return {
    config: {
      bucket: 'gateway',
      endpoint: `http://127.0.0.1:${port}`,
      region: 'us-east-1',
      accessKeyId: 'S3RVER',
      secretAccessKey: 'S3RVER',
      redirect: true,
    },
    stop: () => server.close(),
  };
}
