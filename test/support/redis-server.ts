import { describe, it } from '@jest/globals';
import { spawn, spawnSync } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { Redis } from 'ioredis';

const TRIES = 50;
const PAUSE_MS = 100;

/** True when `redis-server` is on the PATH. */
export const hasRedisServer = spawnSync('redis-server', ['--version']).status === 0;

/** Skipped where there is no Redis. */
export const describeWithRedis = hasRedisServer ? describe : describe.skip;
export const itWithRedis = hasRedisServer ? it : it.skip;

export interface TestRedis {
  url: string;
  stop(): Promise<void>;
}

/** Starts an empty Redis on loopback that keeps nothing on disk. */
export async function startTestRedis(port?: number): Promise<TestRedis> {
  // Another process may have taken the port meanwhile, usually for an outgoing connection.
  for (let tries = 0; tries < TRIES; tries++) {
    const chosenPort = port ?? (await findFreePort());
    const server = spawn(
      'redis-server',
      ['--port', String(chosenPort), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no'],
      { stdio: 'ignore' },
    );
    const exited = once(server, 'exit');
    const url = `redis://127.0.0.1:${chosenPort}`;
    const isUp = await Promise.race([isReady(url), exited.then(() => false)]);
    if (isUp) {
      return {
        url,
        async stop() {
          if (server.exitCode !== null || !server.kill('SIGKILL')) return;
          await exited;
        },
      };
    }
    server.kill('SIGKILL');
    await wait(PAUSE_MS);
  }
  throw new Error('redis-server does not start');
}

/** Returns a free port outside the range that systems use for outgoing connections. */
async function findFreePort(): Promise<number> {
  for (;;) {
    const port = randomInt(20_000, 32_768);
    const isFree = await new Promise<boolean>((resolve) => {
      const server = createServer();
      server.once('error', () => resolve(false));
      server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
    });
    if (isFree) return port;
  }
}

async function isReady(url: string): Promise<boolean> {
  const probe = new Redis(url, {
    retryStrategy: (attempt) => (attempt < 400 ? 50 : null),
    maxRetriesPerRequest: null,
  });
  probe.on('error', () => undefined);
  try {
    await probe.ping();
    return true;
  } catch {
    return false;
  } finally {
    probe.disconnect();
  }
}
