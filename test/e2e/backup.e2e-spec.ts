import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { execFile } from 'node:child_process';
import { chmod, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { politeAnswer, startFakeOpenAi, type FakeOpenAi } from '../support/fake-openai.js';
import { findBookFaults, readBookFigures } from '../../src/core/ledger/books.js';
import { runOperatorCommand } from '../support/operator-command.js';
import { spawnGateway, type SpawnedGateway } from '../support/spawn-gateway.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';
import { until } from '../support/until.js';

const API_KEY = 'sk-backup-test-key-000001';
const SECRET = 'a-secret-for-tests-of-enough-length';
const CLI = fileURLToPath(new URL('../../dist/src/cli.js', import.meta.url));

describe('service with the embedded database', () => {
  let fake: FakeOpenAi;
  let elsewhere: TestDatabase;
  let folder: string;
  const gateways: SpawnedGateway[] = [];

  beforeAll(async () => {
    fake = await startFakeOpenAi();
    elsewhere = await createTestDatabase({ migrate: false });
    folder = await mkdtemp(join(tmpdir(), 'gateway-backup-'));
    await chmod(folder, 0o711);
  });
  afterEach(async () => {
    for (const gateway of gateways.splice(0)) await gateway.stop('SIGKILL');
  });
  afterAll(async () => {
    await fake.close();
    await elsewhere.drop();
    await rm(folder, { recursive: true, force: true });
  });

  const settings = (rest: Record<string, string>): Record<string, string> => ({
    GATEWAY_DATA_DIR: join(folder, 'data'),
    GATEWAY_SECRET: SECRET,
    GATEWAY_BOOTSTRAP_API_KEY: API_KEY,
    GATEWAY_BOOTSTRAP_RATE_LIMIT_PER_MINUTE: '100000',
    GATEWAY_BOOTSTRAP_CREDITS: '1000000000',
    OPENAI_API_KEY: 'sk-vendor',
    OPENAI_BASE_URL: fake.baseUrl,
    ...rest,
  });
  const start = async (rest: Record<string, string> = {}): Promise<SpawnedGateway> => {
    const gateway = await spawnGateway(settings(rest));
    gateways.push(gateway);
    return gateway;
  };
  /** Runs a command in a process, which has to find the database of another one. */
  const operate = (...words: string[]) =>
    promisify(execFile)(process.execPath, [CLI, ...words], {
      env: { PATH: process.env.PATH ?? '', ...settings({}) },
    });
  const ask = async (url: string): Promise<number> => {
    const response = await fetch(`${url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${API_KEY}`, 'content-type': 'application/json' },
      body: JSON.stringify({
        model: 'openai/gpt-4o-mini',
        messages: [{ role: 'user', content: 'Hello' }],
      }),
    });
    await response.arrayBuffer();
    return response.status;
  };

  it('can be backed up under load and restored elsewhere with equal books', async () => {
    fake.answer = politeAnswer({ text: 'word '.repeat(10), chunkDelayMs: 5 });
    const { url } = await start();
    let isOver = false;
    const statuses: number[] = [];
    const callers = Array.from({ length: 6 }, async () => {
      while (!isOver) statuses.push(await ask(url));
    });
    await until(() => statuses.length > 20);
    const file = join(folder, 'gateway.backup');
    const { stdout } = await operate('backup', file);
    const answeredThen = statuses.length;
    await until(() => statuses.length > answeredThen + 20);
    isOver = true;
    await Promise.all(callers);
    expect(new Set(statuses)).toEqual(new Set([200]));
    expect((await readdir(folder)).sort()).toEqual(['data', 'gateway.backup']);

    const target = { DATABASE_URL: elsewhere.url, GATEWAY_DATA_DIR: join(folder, 'other') };
    const restored = await runOperatorCommand(settings(target), 'restore', file);
    const [books] = /^Books: .*$/m.exec(stdout) ?? [];
    expect(books).toMatch(/balance (\d+), entries \1, held (\d+), holds \2/);
    expect(restored.output).toContain(`${books}\nThe books balance.\n`);
    const figures = await readBookFigures(elsewhere.database);
    expect(Number(figures['charged requests'])).toBeGreaterThan(10);

    // Requests open at that moment have no process here; all others are complete.
    const open = Number(figures['open holds']);
    const second = await start(target);
    expect(await ask(second.url)).toBe(200);
    await until(
      async () => (await readBookFigures(elsewhere.database))['open holds'] === '0',
      90_000,
    );
    expect(await findBookFaults(elsewhere.database, { isLogWhole: true })).toEqual([]);
    const { rows } = await elsewhere.database.query<{ outcome: string; count: number }>(
      'SELECT outcome, count(*) FROM request_logs GROUP BY outcome ORDER BY outcome',
    );
    const completed = Number(figures['charged requests']) + 1;
    expect(rows).toEqual([
      { outcome: 'completed', count: completed },
      ...(open > 0 ? [{ outcome: 'crashed', count: open }] : []),
    ]);
    const again = await runOperatorCommand(settings(target), 'restore', file, '--replace');
    expect(again).toMatchObject({
      code: 1,
      errors: expect.stringContaining('instances of the service are using'),
    });
  });
});
