import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { readdir, rm } from 'node:fs/promises';
import type { Server } from 'node:http';
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

const SILENT = { role: 'user', content: 'Be silent' };
const MODEL = 'one/a';
const VECTORS = 'one/vectors';
const VOICE = 'one/voice';
const SPEAK = 'Speak';

type SentRequest = [path: string, body: object];

const STREAMS: [...SentRequest, lastEvent: RegExp][] = [
  [CHAT, { messages: [{ role: 'user', content: SPEAK }] }, /"finish_reason":"error"/],
  [MESSAGES, { messages: [{ role: 'user', content: SPEAK }], max_tokens: 9 }, /event: error\n/],
  [RESPONSES, { input: SPEAK }, /event: response\.failed\n/],
];
const UNANSWERED: SentRequest[] = [
  [CHAT, { model: MODEL, messages: [SILENT] }],
  [CHAT, { model: MODEL, messages: [SILENT], stream: true }],
  [MESSAGES, { model: MODEL, messages: [SILENT], max_tokens: 9 }],
  [RESPONSES, { model: MODEL, input: 'Hello' }],
  [RESPONSES, { model: MODEL, input: 'Hello', stream: true }],
  ['/v1/completions', { model: MODEL, prompt: 'Hello' }],
  ['/v1/embeddings', { model: VECTORS, input: 'Hello' }],
  ['/v1/audio/speech', { model: VOICE, input: 'Hello', voice: 'alloy' }],
];

const isJournal = (name: string): boolean => name.endsWith('.jsonl');

let one: FakeOpenAi;
let files: OperatorFiles;
let database: TestDatabase;
let proxy: TcpProxy;
let gateway: BootedGateway;

/** Starts a gateway for a group of tests, since shutting it down ends all running requests. */
function useGateway(requestTimeoutMs = 4_000): void {
  beforeAll(async () => {
    one = await startFakeOpenAi();
    const pricing = { prompt: '0.000001', completion: '0.000002' };
    files = await writeOperatorFiles({ one: one.baseUrl }, [
      { id: MODEL, pricing },
      { id: VECTORS, kind: 'embedding', pricing: { prompt: '0.000001' } },
      { id: VOICE, kind: 'speech', pricing: { audio_character: '0.000001' } },
    ]);
    database = await createTestDatabase();
    proxy = await TcpProxy.before(database.url);
    gateway = await bootGateway(
      {
        ...files.environment,
        DATABASE_URL: proxy.inFrontOf(database.url),
        GATEWAY_DRAIN_SECONDS: '1',
        GATEWAY_REQUEST_TIMEOUT_MS: String(requestTimeoutMs),
        // They would retry an unavailable database as long as this process lives.
        GATEWAY_JOB_WORKERS: 'false',
      },
      { database },
    );
  });
  afterAll(async () => {
    await one.close();
    await files.remove();
    await proxy.cut();
    await database.drop();
  });
}

const speaks = streamOf([delta({ role: 'assistant', content: 'So far, so good.' })], 'hang');
const idOf = (response: Response): string => response.headers.get('x-request-id')!;

describe('requests still running at the drain limit', () => {
  useGateway();
  const streams: { status: number; id: string; text: string; isCut: boolean }[] = [];
  const answers: { status: number; id: string; body: unknown }[] = [];

  beforeAll(async () => {
    one.answer = (call, response) =>
      call.rawBody.includes(SPEAK) ? speaks(call, response) : hangAnswer(call, response);
    const started = await Promise.all(
      STREAMS.map(([path, body]) => gateway.post(path, { model: MODEL, stream: true, ...body })),
    );
    const reads = started.map(readAvailable);
    const waiting = UNANSWERED.map(([path, body]) => gateway.post(path, body));
    await until(() => one.calls.length === STREAMS.length + UNANSWERED.length);
    // The answers' last words may take longer on a busy machine. Connections that end are not delayed.
    const server = gateway.gateway.application.getHttpServer() as Server;
    const cut = server.closeAllConnections.bind(server);
    jest.spyOn(server, 'closeAllConnections').mockImplementation(() => {
      setTimeout(cut, 20_000).unref();
    });
    await gateway.close();
    for (const [index, response] of started.entries()) {
      const { body: text, isCut } = await reads[index]!;
      streams.push({ status: response.status, id: idOf(response), text, isCut });
    }
    for (const response of await Promise.all(waiting)) {
      const { status } = response;
      answers.push({ status, id: idOf(response), body: await response.json() });
    }
  });

  it.each(STREAMS.map(([path, , lastEvent], index) => [path, lastEvent, index] as const))(
    'a stream of %s ends with the dialect’s error',
    async (_path, lastEvent, index) => {
      const { status, id, text, isCut } = streams[index]!;
      expect(status).toBe(200);
      expect(isCut).toBe(true);
      expect(text).toMatch(lastEvent);
      expect(text).toContain('So far, so good.');
      expect(text).toContain('is being stopped');
      // Generated output is charged although the caller did not disconnect.
      expect(await expectSettled(id, 'cancelled')).toBeGreaterThan(0);
    },
  );

  it.each(UNANSWERED.map((request, index) => [...request, index] as const))(
    'an answer of %s that has not started is a 503, and costs nothing (%j)',
    async (path, _body, index) => {
      const { status, id, body } = answers[index]!;
      expect(status).toBe(503);
      if (path === CHAT) expect(body).toMatchObject({ error: { type: 'provider_unavailable' } });
      expect(await expectSettled(id, 'cancelled')).toBe(0);
    },
  );

  it('no hold is left, and the books balance', expectOrder);
});

describe('an answer that only waits for its commit at the drain limit', () => {
  useGateway();

  it('is delivered, and charged later', async () => {
    let answerNow = (): void => undefined;
    const release = new Promise<void>((resolve) => (answerNow = resolve));
    one.answer = async (call, response) => {
      await release;
      return politeAnswer()(call, response);
    };
    const answered = gateway.post(CHAT, { model: MODEL, messages: [SILENT] });
    await until(() => one.calls.length === 1);
    proxy.silence();
    const closed = gateway.close();
    // Its wait for the database would outlast the drain.
    answerNow();
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
    expect(await expectSettled(idOf(response), 'completed')).toBeGreaterThan(0);
    await expectOrder();
  });
});

describe('a request beyond the request timeout', () => {
  useGateway(2_000);

  it('is charged up to there as a stream, and costs nothing as a whole answer', async () => {
    one.answer = (call, response) => {
      if (call.body.stream === true) return speaks(call, response);
      response.writeHead(200, { 'content-type': 'application/json' });
      response.write('{"choices":[{"index":0,"message":{"content":"Half');
    };
    const body = { model: MODEL, messages: [SILENT] };
    const [stream, whole] = await Promise.all([
      gateway.post(CHAT, { ...body, stream: true }),
      gateway.post(CHAT, body),
    ]);
    const { body: text } = await readAvailable(stream);
    expect(text).toContain('"type":"timeout_error","code":504');
    expect(text).toContain('"finish_reason":"error"');
    expect(whole.status).toBe(504);
    await gateway.close();
    expect(await expectSettled(idOf(stream), 'timeout', 'timeout_error')).toBeGreaterThan(0);
    expect(await expectSettled(idOf(whole), 'failed', 'timeout_error')).toBe(0);
    await expectOrder();
  });
});

/** @returns the charge */
async function expectSettled(
  requestId: string,
  outcome: string,
  errorType: string | null = null,
): Promise<number> {
  const { rows } = await database.database.query<{ cost: number }>(
    'SELECT outcome, error_type, cost FROM request_logs WHERE request_id = $1',
    [requestId],
  );
  expect(rows).toEqual([{ outcome, error_type: errorType, cost: rows[0]?.cost }]);
  return rows[0]!.cost;
}

async function expectOrder(): Promise<void> {
  const { rows } = await database.database.query<{ logged: number; held: number }>(
    `SELECT (SELECT count(*) FROM request_logs) AS logged, (SELECT count(*) FROM holds) AS held`,
  );
  expect(rows).toEqual([{ logged: one.calls.length, held: 0 }]);
  expect(await findLedgerFaults(database.database)).toEqual([]);
}
