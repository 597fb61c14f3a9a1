import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { Redis } from 'ioredis';
import { findFreePort } from '../../src/common/database/free-port.js';

/** Whether there is a `redis-server` on the PATH to test with. */
export function hasRedisServer(): boolean {
  return spawnSync('redis-server', ['--version']).status === 0;
}

export interface TestRedis {
  url: string;
  stop(): Promise<void>;
}

/** Starts an empty Redis on loopback that keeps nothing on disk. */
export async function startTestRedis(port?: number): Promise<TestRedis> {
  const chosenPort = port ?? (await findFreePort());
  const server = spawn(
    'redis-server',
    ['--port', String(chosenPort), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no'],
    { stdio: 'ignore' },
  );
  const url = `redis://127.0.0.1:${chosenPort}`;
  await waitUntilReady(url);
  return {
    url,
    async stop() {
      const exited = once(server, 'exit');
      if (server.exitCode !== null || !server.kill('SIGKILL')) return;
      await exited;
    },
  };
}

async function waitUntilReady(url: string): Promise<void> {
  const probe = new Redis(url, {
    retryStrategy: (attempt) => (attempt < 100 ? 50 : null),
    maxRetriesPerRequest: null,
  });
  probe.on('error', () => undefined);
  try {
    await probe.ping();
  } finally {
    probe.disconnect();
  }
}
