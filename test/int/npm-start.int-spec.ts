import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import { politeAnswer, startFakeOpenAi, type FakeOpenAi } from '../support/fake-openai.js';
import { spawnGateway, type SpawnedGateway } from '../support/spawn-gateway.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';
import { until } from '../support/until.js';

const API_KEY = 'sk-npm-start-test-key-0001';

/** Throws an unhandled error on a signal, like a bug would. */
const BREAK_ON_SIGNAL = `
  process.on('SIGUSR2', () => { throw new Error('a defect'); });
  process.on('SIGWINCH', () => void Promise.reject(new Error('a defect')));
`;

describe('npm start', () => {
  let database: TestDatabase;
  let vendor: FakeOpenAi;
  let gateway: SpawnedGateway;
  /** Releases the vendor's answer. */
  let release: () => void;

  beforeAll(async () => {
    vendor = await startFakeOpenAi();
    database = await createTestDatabase();
  });
  beforeEach(() => {
    const released = new Promise<void>((resolve) => (release = resolve));
    vendor.calls.length = 0;
    vendor.answer = async (call, response) => {
      await released;
      await politeAnswer()(call, response);
    };
  });
  afterEach(async () => {
    // Kills the rest of the group: npm, its shell or the service.
    signalGroup('SIGKILL');
    await gateway.stop('SIGKILL');
  });
  afterAll(async () => {
    await vendor.close();
    await database.drop();
  });

  const start = async (program: 'npm start' | 'main' = 'npm start'): Promise<void> => {
    gateway = await spawnGateway(
      {
        HOME: process.env.HOME ?? '/',
        NODE_OPTIONS: `--no-warnings --import=data:text/javascript,${encodeURIComponent(BREAK_ON_SIGNAL)}`,
        DATABASE_URL: database.url,
        // Each start would install its packages; the build has its own suite.
        GATEWAY_CONSOLE: 'off',
        GATEWAY_SECRET: 'a-secret-for-tests-of-enough-length',
        GATEWAY_BOOTSTRAP_API_KEY: API_KEY,
        GATEWAY_BOOTSTRAP_CREDITS: '1000000000',
        OPENAI_API_KEY: 'sk-vendor',
        OPENAI_BASE_URL: vendor.baseUrl,
      },
      program,
    );
  };

  const signalGroup = (signal: NodeJS.Signals): void => {
    try {
      process.kill(-gateway.process.pid!, signal);
    } catch {
      // Nothing of it is left.
    }
  };

  /** Starts a request; its answer comes once the vendor is released. */
  const ask = async (): Promise<() => Promise<{ status: number; connection: string | null }>> => {
    const answer = fetch(`${gateway.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${API_KEY}`, 'content-type': 'application/json' },
      body: JSON.stringify({
        model: 'openai/gpt-4o-mini',
        messages: [{ role: 'user', content: 'Hi' }],
      }),
    }).then(async (response) => {
      await response.text();
      return { status: response.status, connection: response.headers.get('connection') };
    });
    answer.catch(() => undefined);
    await until(() => vendor.calls.length === 1);
    return () => answer;
  };

  const stopsAccepting = (): Promise<void> =>
    until(() =>
      fetch(`${gateway.url}/healthz`).then(
        () => false,
        () => true,
      ),
    );

  /** npm's exit code; undefined when it has not exited after a minute. */
  const ended = (): Promise<number | null | undefined> =>
    Promise.race([
      new Promise<number | null>((resolve) => gateway.process.once('exit', resolve)),
      wait(60_000, undefined, { ref: false }),
    ]);

  /** The service replaced the shell between npm and itself. */
  const servicePid = (): number => {
    const { pid } = gateway.process;
    return Number(readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8'));
  };

  it('makes the C library return memory, and finishes running answers on SIGTERM to npm', async () => {
    await start();
    const environment = readFileSync(`/proc/${servicePid()}/environ`, 'utf8').split('\0');
    expect(environment).toEqual(
      expect.arrayContaining([
        'MALLOC_ARENA_MAX=2',
        'MALLOC_TRIM_THRESHOLD_=131072',
        expect.stringMatching(/^NODE_OPTIONS=./),
      ]),
    );
    expect(environment).toContain(`OPENAI_BASE_URL=${vendor.baseUrl}`);

    const answer = await ask();
    const end = ended();
    gateway.process.kill('SIGTERM');
    await stopsAccepting();
    release();
    expect(await answer()).toEqual({ status: 200, connection: 'close' });
    expect(await end).toBe(0);
    await expect(fetch(`${gateway.url}/healthz`)).rejects.toThrow();
  });

  it('does so on Ctrl-C, which reaches npm and the service, and is forwarded by npm', async () => {
    await start();
    const answer = await ask();
    const end = ended();
    signalGroup('SIGINT');
    await stopsAccepting();
    // npm forwards the signal meanwhile.
    await wait(300);
    release();
    expect(await answer()).toEqual({ status: 200, connection: 'close' });
    expect(await end).toBe(0);
  });

  it('exits at once on a second Ctrl-C', async () => {
    await start();
    const answer = await ask();
    const end = ended();
    signalGroup('SIGINT');
    await stopsAccepting();
    await wait(1_100);
    signalGroup('SIGINT');
    expect(await end).toBe(1);
    await expect(answer()).rejects.toThrow();
  });

  // npm returns the service's status.
  it.each(['npm start', 'main'] as const)(
    'finishes running answers after an uncaught exception and exits with status 1 (%s)',
    async (program) => {
      await start(program);
      const answer = await ask();
      const end = ended();
      process.kill(program === 'main' ? gateway.process.pid! : servicePid(), 'SIGUSR2');
      await stopsAccepting();
      release();
      expect(await answer()).toEqual({ status: 200, connection: 'close' });
      expect(await end).toBe(1);
      await until(() => gateway.output().includes('uncaughtException'));
      expect(gateway.output()).toContain('a defect');
    },
  );

  it('keeps serving after an unhandled rejection and counts it', async () => {
    await start('main');
    process.kill(gateway.process.pid!, 'SIGWINCH');
    const metrics = async (): Promise<string> => (await fetch(`${gateway.url}/metrics`)).text();
    await until(async () => (await metrics()).includes('gateway_unhandled_rejections_total 1'));
    release();
    expect(await (await ask())()).toMatchObject({ status: 200 });
    await until(() => gateway.output().includes('unhandledRejection'));
  });
});
