import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { runCommand } from '../../src/app/commands/run-command.js';
import { loadSettings } from '../../src/app/load-settings.js';
import { bootGateway, type BootedGateway } from '../support/boot-gateway.js';
import {
  hangAnswer,
  politeAnswer,
  startFakeOpenAi,
  type FakeOpenAi,
} from '../support/fake-openai.js';
import { findLedgerFaults } from '../support/ledger-invariants.js';
import { writeOperatorFiles, type OperatorFiles } from '../support/operator-files.js';
import { CHAT, MESSAGES, RESPONSES } from '../support/paths.js';
import { TcpProxy } from '../support/tcp-proxy.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';
import { until } from '../support/until.js';
import { delta, streamOf } from '../support/vendor-stream.js';
import { readAvailable } from '../support/streamed-answer.js';

const USER = { role: 'user', content: 'Hello' };
const MODEL = 'one/a';
const VECTORS = 'one/vectors';
const VOICE = 'one/voice';

const isJournal = (name: string): boolean => name.endsWith('.jsonl');

describe('what still runs when the drain limit has passed', () => {
  let one: FakeOpenAi;
  let files: OperatorFiles;
  let database: TestDatabase;
  let proxy: TcpProxy;
  let gateway: BootedGateway;

  beforeEach(async () => {
    one = await startFakeOpenAi();
    const pricing = { prompt: '0.000001', completion: '0.000002' };
    files = await writeOperatorFiles({ one: one.baseUrl }, [
      { id: MODEL, pricing },
      { id: VECTORS, kind: 'embedding', pricing: { prompt: '0.000001' } },
      { id: VOICE, kind: 'speech', pricing: { audio_character: '0.000001' } },
    ]);
    database = await createTestDatabase();
    const url = new URL(database.url);
    proxy = new TcpProxy({ host: url.hostname, port: Number(url.port) });
    await proxy.open();
    url.port = String(proxy.port);
    gateway = await bootGateway(
      {
        ...files.environment,
        DATABASE_URL: url.href,
        GATEWAY_DRAIN_SECONDS: '1',
        GATEWAY_REQUEST_TIMEOUT_MS: '4000',
        // It would try a database that is gone for as long as this process lives.
        GATEWAY_JOB_WORKERS: 'false',
      },
      { database },
    );
  });
  afterEach(async () => {
    await one.close();
    await files.remove();
    await proxy.cut();
    await database.drop();
  });

  it.each([
    [CHAT, { messages: [USER] }, /"finish_reason":"error"/],
    [MESSAGES, { messages: [USER], max_tokens: 9 }, /event: error\n/],
    [RESPONSES, { input: 'Hello' }, /event: response\.failed\n/],
  ])('a stream of %s ends with the error of its dialect', async (path, body, lastEvent) => {
    one.answer = streamOf([delta({ role: 'assistant', content: 'So far, so good.' })], 'hang');
    const response = await gateway.post(path, { model: MODEL, stream: true, ...body });
    expect(response.status).toBe(200);
    const read = readAvailable(response);
    await until(() => one.calls.length === 1);
    await gateway.close();
    const { body: text, isCut } = await read;
    expect(isCut).toBe(true);
    expect(text).toMatch(lastEvent);
    expect(text).toContain('So far, so good.');
    expect(text).toContain('is being stopped');
    // What was made is paid for, though its caller was there.
    expect(await expectSettled('cancelled')).toBeGreaterThan(0);
  });

  it.each([true, false])('an answer that has not begun is a 503 (stream: %s)', async (stream) => {
    one.answer = hangAnswer;
    const answered = gateway.post(CHAT, { model: MODEL, messages: [USER], stream });
    await until(() => one.calls.length === 1);
    await gateway.close();
    const response = await answered;
    expect(response.status).toBe(503);
    expect(await response.json()).toMatchObject({ error: { type: 'provider_unavailable' } });
    expect(await expectSettled('cancelled')).toBe(0);
  });

  it('nothing of what was not delivered costs anything, whatever was asked for', async () => {
    one.answer = hangAnswer;
    const asked: [string, object][] = [
      [MESSAGES, { model: MODEL, messages: [USER], max_tokens: 9 }],
      [RESPONSES, { model: MODEL, input: 'Hello' }],
      [RESPONSES, { model: MODEL, input: 'Hello', stream: true }],
      ['/v1/completions', { model: MODEL, prompt: 'Hello' }],
      ['/v1/embeddings', { model: VECTORS, input: 'Hello' }],
      ['/v1/audio/speech', { model: VOICE, input: 'Hello', voice: 'alloy' }],
    ];
    const answers = asked.map(([path, body]) => gateway.post(path, body));
    await until(() => one.calls.length === asked.length);
    await gateway.close();
    const statuses = (await Promise.all(answers)).map(({ status }) => status);
    expect(statuses).toEqual(asked.map(() => 503));
    const { rows } = await database.database.query('SELECT outcome, cost FROM request_logs');
    expect(rows).toEqual(asked.map(() => ({ outcome: 'cancelled', cost: 0 })));
    expect((await database.database.query('SELECT FROM holds')).rows).toEqual([]);
  });

  it('an answer that only waits for its commit is delivered, and charged later', async () => {
    let goOn = (): void => undefined;
    const release = new Promise<void>((resolve) => (goOn = resolve));
    one.answer = async (call, response) => {
      await release;
      return politeAnswer()(call, response);
    };
    const answered = gateway.post(CHAT, { model: MODEL, messages: [USER] });
    await until(() => one.calls.length === 1);
    proxy.silence();
    const closed = gateway.close();
    // Its wait for the database would last longer than the drain.
    goOn();
    const response = await answered;
    expect(response.status).toBe(200);
    expect(await response.json()).toHaveProperty('choices');
    await expect(closed).rejects.toThrow('1 settlements could not be written to the database');
    await proxy.cut();
    const { dataDirectory } = gateway.config;
    const [name = ''] = (await readdir(join(dataDirectory, 'settlements'))).filter(isJournal);
    const status = await runCommand(['settle', join(dataDirectory, 'settlements', name)], {
      loadConfig: () =>
        loadSettings({ DATABASE_URL: database.url, GATEWAY_SECRET: 'x'.repeat(32) }),
      print: () => undefined,
      printError: () => undefined,
    });
    await rm(dataDirectory, { recursive: true });
    expect(status).toBe(0);
    expect(await expectSettled('completed')).toBeGreaterThan(0);
  });

  it('a stream that takes longer than a request may is paid for up to there', async () => {
    one.answer = streamOf([delta({ role: 'assistant', content: 'So far, so good.' })], 'hang');
    const body = { model: MODEL, messages: [USER], stream: true };
    const { body: text } = await readAvailable(await gateway.post(CHAT, body));
    expect(text).toContain('took longer than a request may');
    expect(text).toContain('"finish_reason":"error"');
    await gateway.close();
    expect(await expectSettled('timeout', 'timeout_error')).toBeGreaterThan(0);
  });

  it('a whole answer that takes longer than a request may costs nothing', async () => {
    one.answer = (_call, response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.write('{"choices":[{"index":0,"message":{"content":"Half');
    };
    const response = await gateway.post(CHAT, { model: MODEL, messages: [USER] });
    expect(response.status).toBe(504);
    await gateway.close();
    expect(await expectSettled('failed', 'timeout_error')).toBe(0);
  });

  /** @returns what was charged */
  async function expectSettled(outcome: string, errorType: string | null = null): Promise<number> {
    const { rows } = await database.database.query<{ cost: number }>(
      'SELECT outcome, error_type, cost FROM request_logs',
    );
    expect(rows).toEqual([{ outcome, error_type: errorType, cost: rows[0]?.cost }]);
    const holds = await database.database.query('SELECT FROM holds');
    expect(holds.rows).toEqual([]);
    expect(await findLedgerFaults(database.database)).toEqual([]);
    return rows[0]!.cost;
  }
});
