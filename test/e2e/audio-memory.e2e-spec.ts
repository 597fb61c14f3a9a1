import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { once } from 'node:events';
import { readdir } from 'node:fs/promises';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { waveHeader } from '../../src/platform/audio/wave-file.js';
import { bootGateway, type BootedGateway } from '../support/boot-gateway.js';

const UPLOADS = 10;
const AT_ONCE = 5;
const FILE_BYTES = 20_000_000;
/** Far below the 100 MB in flight at a time. */
const MAX_GROWTH_BYTES = 60_000_000;

describe('10 uploads of 20 MB, 5 at a time', () => {
  let vendor: http.Server;
  let gateway: BootedGateway;
  let received = 0;

  beforeAll(async () => {
    vendor = http.createServer((request, response) => {
      request.on('data', (chunk: Buffer) => (received += chunk.length));
      request.on('end', () => {
        response.writeHead(200, { 'content-type': 'application/json' });
        response.end('{"text":"Hi","usage":{"type":"duration","seconds":625}}');
      });
    });
    vendor.listen(0, '127.0.0.1');
    await once(vendor, 'listening');
    const { port } = vendor.address() as AddressInfo;
    gateway = await bootGateway({
      OPENAI_API_KEY: 'sk-vendor-key-1',
      OPENAI_BASE_URL: `http://127.0.0.1:${port}/v1`,
      GATEWAY_BOOTSTRAP_CREDITS: '1000000000',
    });
  });
  afterAll(async () => {
    await gateway.close();
    vendor.closeAllConnections();
    vendor.close();
  });

  it('leave memory flat and no file behind', async () => {
    const before = inUse();
    let peak = before;
    const watch = setInterval(() => (peak = Math.max(peak, inUse())), 20);
    let left = UPLOADS;
    const costs: (string | undefined)[] = [];
    const work = async (): Promise<void> => {
      while (left-- > 0) costs.push(await upload(gateway));
    };
    await Promise.all(Array.from({ length: AT_ONCE }, work));
    clearInterval(watch);

    expect(costs).toEqual(Array.from({ length: UPLOADS }, () => '62500'));
    expect(received).toBeGreaterThan(UPLOADS * FILE_BYTES);
    expect(peak - before).toBeLessThan(MAX_GROWTH_BYTES);
    const root = join(gateway.config.dataDirectory, 'tmp', 'uploads');
    const folders = await readdir(root);
    expect(folders).toHaveLength(1);
    expect(await readdir(join(root, folders[0]!))).toEqual([]);
  });
});

/** Memory of buffers, which does not depend on garbage collection of the heap. */
function inUse(): number {
  return process.memoryUsage().arrayBuffers;
}

/** Sends a WAV file in small pieces. @returns its cost */
async function upload(gateway: BootedGateway): Promise<string | undefined> {
  const request = http.request(`${gateway.url}/v1/audio/transcriptions`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${gateway.apiKey}`,
      'content-type': 'multipart/form-data; boundary=b',
    },
  });
  const answered = once(request, 'response') as Promise<[http.IncomingMessage]>;
  const write = async (bytes: Buffer | string): Promise<void> => {
    if (!request.write(bytes)) await once(request, 'drain');
  };
  await write('--b\r\ncontent-disposition: form-data; name="file"; filename="a.wav"\r\n\r\n');
  const format = { channels: 1, sampleRate: 16_000, bitsPerSample: 16 };
  await write(waveHeader(format, FILE_BYTES - 44));
  const piece = Buffer.alloc(64_000);
  for (let sent = 44; sent < FILE_BYTES; sent += piece.length) {
    await write(piece.subarray(0, Math.min(piece.length, FILE_BYTES - sent)));
  }
  request.end(
    '\r\n--b\r\ncontent-disposition: form-data; name="model"\r\n\r\nopenai/whisper-1\r\n--b--\r\n',
  );
  const [response] = await answered;
  response.resume();
  await once(response, 'end');
  return response.headers['x-gateway-cost'] as string | undefined;
}
