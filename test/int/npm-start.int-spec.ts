import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { setTimeout as wait } from 'node:timers/promises';
import { spawnGateway, type SpawnedGateway } from '../support/spawn-gateway.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';

const API_KEY = 'sk-npm-start-test-key-0001';

describe('npm start', () => {
  let database: TestDatabase;
  let gateway: SpawnedGateway;

  beforeEach(async () => {
    database = await createTestDatabase();
    gateway = await spawnGateway(
      {
        HOME: process.env.HOME ?? '/',
        DATABASE_URL: database.url,
        GATEWAY_SECRET: 'a-secret-for-tests-of-enough-length',
        GATEWAY_BOOTSTRAP_API_KEY: API_KEY,
        GATEWAY_SANDBOX: 'true',
        GATEWAY_FIRST_BYTE_TIMEOUT_MS: '2500',
      },
      'npm start',
    );
  }, 60_000);
  afterEach(async () => {
    // Whatever of the group is left: npm, its shell or the service.
    signalGroup('SIGKILL');
    await database.drop();
  });

  const signalGroup = (signal: NodeJS.Signals): void => {
    try {
      process.kill(-gateway.process.pid!, signal);
    } catch {
      // Nothing of it is left.
    }
  };

  /** A request that is answered, with 504, once the vendor was silent for too long. */
  const askSlowly = async (): Promise<{ status: number; connection: string | null }> => {
    const response = await fetch(`${gateway.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${API_KEY}`, 'content-type': 'application/json' },
      body: JSON.stringify({
        model: 'sandbox/fault-hang',
        messages: [{ role: 'user', content: 'Hi' }],
      }),
    });
    await response.text();
    return { status: response.status, connection: response.headers.get('connection') };
  };

  /** What npm answers in the end; undefined when it is not over after 10 seconds. */
  const ended = (): Promise<number | null | undefined> =>
    Promise.race([
      new Promise<number | null>((resolve) => gateway.process.once('exit', resolve)),
      wait(10_000, undefined, { ref: false }),
    ]);

  it('lets running answers end when npm is told to stop', async () => {
    const answer = askSlowly();
    await wait(500);
    const end = ended();
    gateway.process.kill('SIGTERM');
    expect(await answer).toEqual({ status: 504, connection: 'close' });
    expect(await end).toBe(0);
    await expect(fetch(`${gateway.url}/healthz`)).rejects.toThrow();
  }, 30_000);

  it('does so after Ctrl-C, which reaches npm and the service, and comes from npm again', async () => {
    const answer = askSlowly();
    await wait(500);
    const end = ended();
    signalGroup('SIGINT');
    expect(await answer).toEqual({ status: 504, connection: 'close' });
    expect(await end).toBe(0);
  }, 30_000);

  it('ends at once at a second Ctrl-C', async () => {
    const answer = askSlowly().catch(() => 'cut');
    await wait(200);
    const end = ended();
    signalGroup('SIGINT');
    await wait(1_100);
    signalGroup('SIGINT');
    expect(await end).toBe(1);
    expect(await answer).toBe('cut');
  }, 30_000);
});
