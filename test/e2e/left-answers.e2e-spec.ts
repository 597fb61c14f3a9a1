import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { once } from 'node:events';
import { bootGateway, type BootedGateway } from '../support/boot-gateway.js';
import { startFakeOpenAi, type FakeAnswer, type FakeOpenAi } from '../support/fake-openai.js';
import { streamEvents, writeEvent } from '../support/fake-responses.js';
import { findLedgerFaults } from '../support/ledger-invariants.js';
import { loggedRequest, type LoggedRequest } from '../support/logged-request.js';
import { blockDelta, blockStart, messageStart } from '../support/messages-stream.js';
import { writeOperatorFiles } from '../support/operator-files.js';
import { CHAT, MESSAGES, RESPONSES } from '../support/paths.js';
import { nextGrace } from '../support/next-grace.js';
import { until } from '../support/until.js';
import { delta, DONE, finish, streamOf, usageChunk } from '../support/vendor-stream.js';
import { readAvailable } from '../support/streamed-answer.js';

const PRICING = { prompt: '0.000001', completion: '0.000002' };
const TIMED_MS = 1_000;
const PICTURE = `data:image/png;base64,${Buffer.from('\x89PNG\r\n\x1a\n', 'latin1').toString('base64')}`;
const PAPER = `data:application/pdf;base64,${Buffer.from('%PDF-1.4\n/Type/Page \n%%EOF').toString('base64')}`;

/** 50,000 input tokens by the vendor's own count, a word, and then a long silence. */
const hangingMessage = streamOf(
  [
    messageStart({ input_tokens: 50_000, output_tokens: 1 }),
    blockStart(0, { type: 'text', text: '' }),
    blockDelta(0, { type: 'text_delta', text: 'word' }),
  ],
  'hang',
);

/** Events up to the first text, or to the end once released. */
const responseEvents =
  (mayEnd?: Promise<void>): FakeAnswer =>
  async (call, response) => {
    const events = streamEvents(call, { text: 'word by word' });
    const first = events.findIndex(({ type }) => type === 'response.output_text.delta') + 1;
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    for (const event of events.slice(0, first)) writeEvent(response, event);
    if (!mayEnd) return;
    await mayEnd;
    for (const event of events.slice(first)) writeEvent(response, event);
    response.end();
  };

describe('an answer whose caller disconnected or that a limit ended', () => {
  let fake: FakeOpenAi;
  /** Accepts connections and stays silent: an unreachable vendor, or an image that never arrives. */
  let silent: Server;
  const sockets: Socket[] = [];
  let gateway: BootedGateway;
  let files: Awaited<ReturnType<typeof writeOperatorFiles>>;

  beforeAll(async () => {
    fake = await startFakeOpenAi();
    silent = createServer((socket) => void sockets.push(socket)).listen(0, '127.0.0.1');
    await once(silent, 'listening');
    const messagesUrl = fake.baseUrl.replace(/\/v1$/, '');
    const timed = (provider: string) => ({
      pricing: PRICING,
      routes: [{ provider, model: 'a', priority: 0, timeouts: { request_ms: TIMED_MS } }],
    });
    files = await writeOperatorFiles(
      {
        chat: fake.baseUrl,
        responses: { base_url: fake.baseUrl, settings: { responses: 'true' } },
        messages: { base_url: messagesUrl, adapter: 'anthropic', type: 'anthropic' },
        unreached: { base_url: `https://${addressOf(silent)}/v1` },
      },
      [
        ...['chat', 'responses', 'messages', 'unreached'].map((provider) => ({
          id: `${provider}/a`,
          pricing: PRICING,
        })),
        { id: 'messages/timed', ...timed('messages') },
        { id: 'responses/timed', ...timed('responses') },
      ],
    );
    gateway = await bootGateway({
      ...files.environment,
      AWS_ACCESS_KEY_ID: 'AKIAIOSFODNN7EXAMPLE',
      AWS_SECRET_ACCESS_KEY: 'secret',
      AWS_BEDROCK_ENDPOINT: messagesUrl,
      GATEWAY_ALLOW_PRIVATE_DESTINATIONS: 'true',
      GATEWAY_BOOTSTRAP_CREDITS: '1000000000',
    });
  });
  afterEach(async () => {
    fake.calls.length = 0;
    expect(await findLedgerFaults(gateway.database)).toEqual([]);
  });
  afterAll(async () => {
    await gateway.close();
    await fake.close();
    await files.remove();
    for (const socket of sockets) socket.destroy();
    silent.close();
  });

  function addressOf(server: Server): string {
    return `127.0.0.1:${(server.address() as AddressInfo).port}`;
  }

  /** Sends a request and disconnects after the text has arrived or after a time. */
  async function disconnect(
    path: string,
    body: object,
    {
      at = 'word',
      afterMs,
      headers = {},
    }: { at?: string; afterMs?: number; headers?: object } = {},
  ): Promise<LoggedRequest> {
    const askedAt = new Date();
    const leaving = new AbortController();
    const answer = gateway.fetch(path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify({ stream: true, ...body }),
      signal: leaving.signal,
    });
    const read = async (): Promise<void> => {
      let text = '';
      for await (const piece of (await answer).body!) {
        text += Buffer.from(piece as Uint8Array).toString();
        if (text.includes(at)) leaving.abort();
      }
    };
    if (afterMs !== undefined) setTimeout(() => leaving.abort(), afterMs);
    await expect(read()).rejects.toThrow();
    let id: string | undefined;
    await until(async () => {
      const { rows } = await gateway.database.query<{ request_id: string }>(
        'SELECT request_id FROM request_logs WHERE created_at >= $1',
        [askedAt],
      );
      id = rows[0]?.request_id;
      return id !== undefined;
    });
    return loggedRequest(gateway.database, id);
  }

  const USER = { role: 'user', content: 'Hello' };
  /** Long enough for a hold that covers the vendor's figures. */
  const LONG_USER = { role: 'user', content: 'Hello '.repeat(30_000) };
  const asMessages = { model: 'messages/a', max_tokens: 9_000, messages: [LONG_USER] };
  const asResponse = { model: 'responses/a', max_output_tokens: 9_000, input: 'Hello' };

  const GRACE_MS = 500;
  /** Tokens of the grace period at 100 per second. */
  const GRACE_TOKENS = 45;

  it('in the messages dialect pays for the input that its vendor reported at the start', async () => {
    fake.answer = hangingMessage;
    void nextGrace(gateway, GRACE_MS);
    const row = await disconnect(MESSAGES, asMessages);
    expect(row).toMatchObject({
      outcome: 'cancelled',
      usage_source: 'estimated',
      prompt_tokens: 50_000,
    });
    expect(row.completion_tokens).toBeGreaterThanOrEqual(GRACE_TOKENS);
    expect(row.cost).toBe(row.prompt_tokens + 2 * row.completion_tokens);
  });

  it('in the Responses dialect pays for the bound and the time, and is not stored', async () => {
    fake.answer = responseEvents();
    void nextGrace(gateway, GRACE_MS);
    const row = await disconnect(RESPONSES, asResponse);
    expect(row).toMatchObject({ outcome: 'cancelled', usage_source: 'estimated' });
    expect(row.completion_tokens).toBeGreaterThanOrEqual(GRACE_TOKENS);
    expect(row.cost).toBe(row.prompt_tokens + 2 * row.completion_tokens);
    await expectNothingKept();
  });

  it('in the Responses dialect, near its end, pays the vendor’s figures, and is not stored', async () => {
    fake.answer = responseEvents(nextGrace(gateway));
    const row = await disconnect(RESPONSES, asResponse, { headers: { 'x-gateway-cache': 'true' } });
    expect(row).toMatchObject({
      outcome: 'cancelled',
      usage_source: 'upstream',
      prompt_tokens: 20,
      completion_tokens: 6,
    });
    await expectNothingKept();
    const again = await gateway.post(RESPONSES, asResponse, { 'x-gateway-cache': 'true' });
    expect(again.headers.get('x-cache')).toBe('MISS');
    await again.text();
  });

  it('that is read to its end only for its figures is not cached either', async () => {
    const left = nextGrace(gateway);
    fake.answer = async (_call, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(delta({ content: 'word' }));
      await left;
      response.end(finish() + usageChunk() + DONE);
    };
    const body = { model: 'chat/a', messages: [{ role: 'user', content: 'cached' }] };
    const headers = { 'x-gateway-cache': 'true' };
    const row = await disconnect(CHAT, body, { headers });
    expect(row).toMatchObject({ usage_source: 'upstream', completion_tokens: 5 });
    const again = await gateway.post(CHAT, { ...body, stream: true }, headers);
    expect(again.headers.get('x-cache')).toBe('MISS');
    await again.text();
  });

  it.each([
    ['an image', { type: 'image_url', image_url: { url: PICTURE } }, 5_000],
    ['a document', { type: 'file', file: { filename: 'a.pdf', file_data: PAPER } }, 5_000],
  ])('pays for %s in its prompt', async (_, part, tokens) => {
    fake.answer = streamOf([delta({ content: 'word' })], 'hang');
    void nextGrace(gateway, 50);
    const content = [{ type: 'text', text: 'Hello' }, part];
    const messages = [{ role: 'user', content }];
    const row = await disconnect(CHAT, { model: 'chat/a', max_tokens: 500, messages });
    expect(row.usage_source).toBe('estimated');
    expect(row.prompt_tokens).toBeGreaterThanOrEqual(tokens);
    expect(row.prompt_tokens).toBeLessThan(tokens * 2);
  });

  it('is charged when the request times out', async () => {
    fake.answer = (call, response) => {
      const answer = call.path.endsWith('/messages') ? hangingMessage : responseEvents();
      return answer(call, response);
    };
    const outlast = async (path: string, body: object, leastInput: number): Promise<void> => {
      const response = await gateway.post(path, { ...body, stream: true });
      expect((await readAvailable(response)).body).toMatch(
        /event: error\n|event: response\.failed\n/,
      );
      const row = await loggedRequest(gateway.database, response.headers.get('x-request-id'));
      expect(row).toMatchObject({ outcome: 'timeout', status: 'error', usage_source: 'estimated' });
      expect(row.prompt_tokens).toBeGreaterThanOrEqual(leastInput);
      expect(row.completion_tokens).toBeGreaterThanOrEqual((TIMED_MS / 10) * 0.9);
      expect(row.cost).toBe(row.prompt_tokens + 2 * row.completion_tokens);
    };
    await Promise.all([
      outlast(MESSAGES, { ...asMessages, model: 'messages/timed' }, 50_000),
      outlast(RESPONSES, { ...asResponse, model: 'responses/timed' }, 1),
    ]);
  });

  it('is charged when it exceeds the size limit, which a caller can provoke', async () => {
    const deep = JSON.parse(
      `${'['.repeat(250)}"${'x'.repeat(5_000)}"${']'.repeat(250)}`,
    ) as unknown;
    const pieces = [delta({ content: 'word '.repeat(300) }), delta({ content: 'x', deep })];
    fake.answer = streamOf(pieces, 'hang');
    const body = { model: 'chat/a', max_tokens: 9_000, messages: [USER], stream: true };
    for (const path of [CHAT, MESSAGES]) {
      const response = await gateway.post(path, body);
      expect((await readAvailable(response)).body).toMatch(
        /"error".*"type":"(provider|api)_error"/,
      );
      const row = await loggedRequest(gateway.database, response.headers.get('x-request-id'));
      expect(row).toMatchObject({ outcome: 'failed', usage_source: 'estimated' });
      expect(row.completion_tokens).toBeGreaterThanOrEqual(300);
      expect(row.cost).toBe(row.prompt_tokens + 2 * row.completion_tokens);
    }
  });

  const PICTURED = (url: string) => ({
    role: 'user',
    content: [
      { type: 'text', text: 'x'.repeat(900) },
      { type: 'image_url', image_url: { url } },
    ],
  });

  it.each([true, false])(
    'is free before its vendor was reached or its images have arrived (stream: %s)',
    async (stream) => {
      const pictures = `http://${addressOf(silent)}/a.png`;
      for (const body of [
        { model: 'unreached/a', messages: [USER], stream },
        { model: 'bedrock/anthropic.claude-haiku-5-5', messages: [PICTURED(pictures)], stream },
      ]) {
        const row = await disconnect(CHAT, body, { afterMs: 200 });
        expect(row).toMatchObject({ outcome: 'cancelled', cost: 0, usage_source: 'none' });
      }
      expect(fake.calls).toHaveLength(0);
    },
  );

  async function expectNothingKept(): Promise<void> {
    const { rows } = await gateway.database.query('SELECT 1 FROM stored_responses');
    expect(rows).toEqual([]);
  }
});
