import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import { politeAnswer, startFakeOpenAi, type FakeOpenAi } from '../support/fake-openai.js';
import { spawnGateway, type SpawnedGateway } from '../support/spawn-gateway.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';
import { until } from '../support/until.js';

const API_KEY = 'sk-npm-start-test-key-0001';

/** Errors that nobody catches, as a defect would make them. */
const BREAK_ON_SIGNAL = `
  process.on('SIGUSR2', () => { throw new Error('a defect'); });
  process.on('SIGWINCH', () => void Promise.reject(new Error('a defect')));
`;

describe('npm start', () => {
  let database: TestDatabase;
  let vendor: FakeOpenAi;
  let gateway: SpawnedGateway;
  /** Lets the vendor answer. */
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
    // Whatever of the group is left: npm, its shell or the service.
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
        // Each start would begin to install its packages; what builds it has a suite of its own.
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

  /** Begins a request; what it brings comes once the vendor may answer. */
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

  const takesNoMore = (): Promise<void> =>
    until(() =>
      fetch(`${gateway.url}/healthz`).then(
        () => false,
        () => true,
      ),
    );

  /** What npm answers in the end; undefined when it is not over after a minute. */
  const ended = (): Promise<number | null | undefined> =>
    Promise.race([
      new Promise<number | null>((resolve) => gateway.process.once('exit', resolve)),
      wait(60_000, undefined, { ref: false }),
    ]);

  /** The shell between npm and the service has become the service. */
  const servicePid = (): number => {
    const { pid } = gateway.process;
    return Number(readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8'));
  };

  it('tells the C library to give memory back, and lets running answers end when npm is told to stop', async () => {
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
    await takesNoMore();
    release();
    expect(await answer()).toEqual({ status: 200, connection: 'close' });
    expect(await end).toBe(0);
    await expect(fetch(`${gateway.url}/healthz`)).rejects.toThrow();
  });

  it('does so after Ctrl-C, which reaches npm and the service, and comes from npm again', async () => {
    await start();
    const answer = await ask();
    const end = ended();
    signalGroup('SIGINT');
    await takesNoMore();
    // Time for what npm passes on.
    await wait(300);
    release();
    expect(await answer()).toEqual({ status: 200, connection: 'close' });
    expect(await end).toBe(0);
  });

  it('ends at once at a second Ctrl-C', async () => {
    await start();
    const answer = await ask();
    const end = ended();
    signalGroup('SIGINT');
    await takesNoMore();
    await wait(1_100);
    signalGroup('SIGINT');
    expect(await end).toBe(1);
    await expect(answer()).rejects.toThrow();
  });

  // npm passes the status on.
  it.each(['npm start', 'main'] as const)(
    'finishes running answers after an uncaught exception and exits with status 1 (%s)',
    async (program) => {
      await start(program);
      const answer = await ask();
      const end = ended();
      process.kill(program === 'main' ? gateway.process.pid! : servicePid(), 'SIGUSR2');
      await takesNoMore();
      release();
      expect(await answer()).toEqual({ status: 200, connection: 'close' });
      expect(await end).toBe(1);
      expect(gateway.output()).toContain('a defect');
      expect(gateway.output()).toContain('uncaughtException');
    },
  );

  it('keeps serving after an unhandled rejection and counts it', async () => {
    await start('main');
    process.kill(gateway.process.pid!, 'SIGWINCH');
    const metrics = async (): Promise<string> => (await fetch(`${gateway.url}/metrics`)).text();
    await until(async () => (await metrics()).includes('gateway_unhandled_rejections_total 1'));
    release();
    expect(await (await ask())()).toMatchObject({ status: 200 });
    expect(gateway.output()).toContain('unhandledRejection');
  });
});
