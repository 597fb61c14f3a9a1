import { once } from 'node:events';
import http from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import OpenAI from 'openai';
import { ResponsesWS } from 'openai/resources/responses/ws';
import { WebSocket } from 'ws';
import { bootGateway, type BootedGateway } from '../support/boot-gateway.js';
import { startFakeOpenAi, type FakeOpenAi } from '../support/fake-openai.js';
import { holdBack, respond } from '../support/fake-responses.js';
import { findLedgerFaults, readLedger } from '../support/ledger-invariants.js';
import { until } from '../support/until.js';

type Json = Record<string, unknown>;

const MODEL = 'openai/gpt-4o-mini';
const ECHO = 'sandbox/echo';

/** A caller's socket and the received events. */
class Caller {
  readonly events: Json[] = [];
  closed: { code: number } | undefined;

  private constructor(readonly socket: WebSocket) {
    socket.on('message', (data: Buffer) => this.events.push(JSON.parse(data.toString()) as Json));
    socket.on('close', (code) => (this.closed = { code }));
    socket.on('error', () => undefined);
  }

  static async open(url: string, key: string): Promise<Caller> {
    const socket = new WebSocket(`${url.replace('http', 'ws')}/v1/responses`, {
      headers: { authorization: `Bearer ${key}` },
    });
    const caller = new Caller(socket);
    await once(socket, 'open');
    return caller;
  }

  send(fields: object): void {
    this.socket.send(JSON.stringify({ type: 'response.create', ...fields }));
  }

  get types(): unknown[] {
    return this.events.map(({ type }) => type);
  }

  /** Sends a request and returns the last event of its answer. */
  async answer(fields: object): Promise<Json> {
    const from = this.events.length;
    const isLast = ({ type }: Json): boolean =>
      /^(?:error|response\.(?:completed|failed|incomplete))$/.test(String(type));
    this.send(fields);
    await until(() => this.events.slice(from).some(isLast));
    return this.events.slice(from).find(isLast)!;
  }
}

describe('wss /v1/responses', () => {
  let fake: FakeOpenAi;
  let gateway: BootedGateway;

  beforeAll(async () => {
    fake = await startFakeOpenAi();
    gateway = await bootGateway({
      OPENAI_API_KEY: 'sk-vendor-key',
      OPENAI_BASE_URL: fake.baseUrl,
      GATEWAY_COOLDOWN_MS: '1',
      GATEWAY_MAX_IN_FLIGHT_PER_KEY: '4',
    });
  });
  beforeEach(() => {
    fake.answer = respond();
    fake.calls.length = 0;
  });
  let closing: Promise<void> | undefined;
  afterAll(async () => {
    // The last case has closed the gateway.
    await (closing ?? gateway.close());
    await fake.close();
  });

  const makeKey = async (fields: object = {}): Promise<{ id: string; key: string }> => {
    const made = await gateway.fetch('/v1/customer/api-keys', {
      method: 'POST',
      headers: {
        authorization: `Bearer ${gateway.managementKey}`,
        'content-type': 'application/json',
      },
      body: JSON.stringify({ name: 'for a socket', ...fields }),
    });
    return (await made.json()) as { id: string; key: string };
  };
  const nothingHeld = async (): Promise<void> =>
    until(async () => (await readLedger(gateway.database))[0]!.held === 0);

  it('answers with the events of a stream, turn after turn', async () => {
    const caller = await Caller.open(gateway.url, gateway.apiKey);
    const first = await caller.answer({ model: ECHO, input: 'one two' });
    expect(first).toMatchObject({ type: 'response.completed', response: { status: 'completed' } });
    expect(caller.types.slice(0, 3)).toEqual([
      'response.created',
      'response.in_progress',
      'response.output_item.added',
    ]);
    const { id } = first.response as { id: string };
    const second = await caller.answer({ model: MODEL, input: 'and?', previous_response_id: id });
    expect(second).toMatchObject({
      type: 'response.completed',
      response: { previous_response_id: id },
    });
    expect(fake.calls[0]!.body).toMatchObject({ stream: true, input: { length: 3 } });
    expect(fake.calls[0]!.body).not.toHaveProperty('type');
    caller.socket.close();
  });

  it('continues from its last unstored turn, and from no other', async () => {
    const caller = await Caller.open(gateway.url, gateway.apiKey);
    const idOf = (event: Json): string => (event.response as { id: string }).id;
    const stored = await caller.answer({ model: ECHO, input: 'zero' });
    const turn = { model: MODEL, store: false };
    const first = await caller.answer({
      ...turn,
      input: 'one',
      previous_response_id: idOf(stored),
    });
    const second = await caller.answer({
      ...turn,
      input: [{ role: 'user', content: 'two' }],
      previous_response_id: idOf(first),
    });
    expect(second).toMatchObject({ type: 'response.completed', response: { store: false } });
    const third = await caller.answer({
      ...turn,
      input: 'three',
      previous_response_id: idOf(second),
    });
    expect(third.type).toBe('response.completed');
    const { input } = fake.calls.at(-1)!.body as { input: object[] };
    expect(input).toHaveLength(8 - 1);
    expect(JSON.stringify(input)).toMatch(/zero.*one.*two.*three/);
    for (const [socket, id] of [
      [caller, idOf(first)],
      [await Caller.open(gateway.url, gateway.apiKey), idOf(third)],
    ] as const) {
      expect(await socket.answer({ ...turn, input: 'x', previous_response_id: id })).toMatchObject({
        error: { code: 'previous_response_not_found' },
      });
      socket.socket.close();
    }
  });

  it('works with the official package', async () => {
    const client = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: gateway.apiKey });
    const connection = new ResponsesWS(client);
    let text = '';
    connection.on('response.output_text.delta', ({ delta }) => (text += delta));
    const completed = new Promise((resolve) => connection.on('response.completed', resolve));
    await once(connection.socket as unknown as NodeJS.EventEmitter, 'open').catch(() => undefined);
    connection.send({ type: 'response.create', model: ECHO, input: 'Hello!' });
    expect(await completed).toMatchObject({ response: { status: 'completed' } });
    expect(text).toBe('Sandbox echo: Hello!');
    connection.close();
  });

  it('reports refusals as events, and continues', async () => {
    const caller = await Caller.open(gateway.url, gateway.apiKey);
    const refused: [object, number, string, string][] = [
      [{ model: ECHO }, 400, 'input', 'invalid_request_error'],
      [{ model: 'no/such', input: 'x' }, 404, 'model', 'not_found_error'],
      [
        { model: ECHO, input: 'x', previous_response_id: 'resp_x' },
        404,
        'previous_response_id',
        'previous_response_not_found',
      ],
      [{ type: 'other' }, 400, 'type', 'invalid_request_error'],
      [{ model: ECHO, input: 'x', background: true }, 400, 'background', 'invalid_request_error'],
      [{ model: ECHO, input: 'x', generate: false }, 400, 'generate', 'invalid_request_error'],
    ];
    for (const [fields, status, param, code] of refused) {
      expect(await caller.answer(fields)).toMatchObject({
        type: 'error',
        status,
        error: { param, code, message: expect.any(String) },
      });
    }
    const from = caller.events.length;
    caller.socket.send('no JSON at all');
    caller.socket.send(Buffer.from([1, 2, 3]));
    await until(() => caller.events.length === from + 2);
    expect(caller.types.slice(from)).toEqual(['error', 'error']);
    expect((await caller.answer({ model: ECHO, input: 'x' })).type).toBe('response.completed');
    caller.socket.close();
  });

  it('closes a socket that sends only invalid messages', async () => {
    const caller = await Caller.open(gateway.url, gateway.apiKey);
    const refused = (): number => caller.types.filter((type) => type === 'error').length;
    for (let message = 0; message < 60; message++) caller.socket.send('{}');
    await until(() => refused() === 60);
    // A valid request resets the count.
    expect((await caller.answer({ model: ECHO, input: 'x' })).type).toBe('response.completed');
    for (let message = 0; message < 1_000; message++) caller.socket.send('{}');
    await until(() => caller.closed !== undefined);
    expect(caller.closed).toEqual({ code: 1008 });
    expect(refused()).toBe(160);
  });

  it('keeps serving others, with bounded memory, during a flood of messages whose answers are not read', async () => {
    const { key } = await makeKey();
    const flood = await Caller.open(gateway.url, key);
    flood.socket.pause();
    // A hundred thousand invalid messages at once.
    for (let message = 0; message < 100_000; message++) flood.socket.send('{}');
    const startedMs = performance.now();
    for (let call = 0; call < 5; call++) {
      const answer = await gateway.post('/v1/responses', { model: ECHO, input: 'x' });
      await answer.text();
      expect(answer.status).toBe(200);
    }
    expect(performance.now() - startedMs).toBeLessThan(20_000);
    flood.socket.resume();
    await until(() => flood.closed !== undefined);
    expect(flood.events.length).toBeLessThanOrEqual(100);
  });

  it('schedules a large message fairly with bodies, one at a time', async () => {
    const caller = await Caller.open(gateway.url, gateway.apiKey);
    const input = 'large '.repeat(100_000);
    caller.send({ model: MODEL, input });
    caller.send({ model: MODEL, input });
    await until(() => caller.types.includes('response.completed'));
    expect(caller.events.find(({ type }) => type === 'error')).toMatchObject({ status: 409 });
    expect((await caller.answer({ model: MODEL, input })).type).toBe('response.completed');
    caller.socket.close();
  });

  it('gives one answer at a time', async () => {
    const letGo = holdBack(fake);
    const caller = await Caller.open(gateway.url, gateway.apiKey);
    caller.send({ model: MODEL, input: 'x' });
    await until(() => fake.calls.length === 1);
    expect(await caller.answer({ model: ECHO, input: 'y' })).toMatchObject({
      status: 409,
      error: { code: 'response_already_in_flight' },
    });
    letGo();
    await until(() => caller.types.includes('response.completed'));
    caller.socket.close();
  });

  it('closes the vendor’s connection when its caller disconnects, and charges for it', async () => {
    const letGo = holdBack(fake);
    const caller = await Caller.open(gateway.url, gateway.apiKey);
    caller.send({ model: MODEL, input: 'x' });
    await until(() => fake.calls.length === 1);
    caller.socket.terminate();
    await fake.calls[0]!.hungUp;
    letGo();
    await nothingHeld();
  });

  it('waits for a slow reader and sends everything', async () => {
    const caller = await Caller.open(gateway.url, gateway.apiKey);
    caller.socket.pause();
    caller.send({ model: 'sandbox/words', input: '40000 words' });
    await pause(500);
    expect(caller.types).not.toContain('response.completed');
    caller.socket.resume();
    await until(() => caller.types.includes('response.completed'));
    const deltas = caller.events.filter(({ type }) => type === 'response.output_text.delta');
    expect(deltas).toHaveLength(40_000);
    caller.socket.close();
  });

  it('counts towards the open requests of its key', async () => {
    const callers = await Promise.all(
      [1, 2, 3].map(() => Caller.open(gateway.url, gateway.apiKey)),
    );
    const letGo = holdBack(fake);
    callers[0]!.send({ model: MODEL, input: 'x' });
    await until(() => fake.calls.length === 1);
    const refused = await callers[1]!.answer({ model: ECHO, input: 'y' });
    expect(refused).toMatchObject({ status: 429, error: { param: 'max_in_flight_per_key' } });
    expect(await statusOf(gateway.url, gateway.apiKey)).toBe(429);
    letGo();
    await until(() => callers[0]!.types.includes('response.completed'));
    for (const { socket } of callers) socket.close();
    await until(() => callers.every(({ closed }) => closed !== undefined));
  });

  it.each([
    ['no key', undefined, 401],
    ['a wrong key', 'sk-wrong', 401],
    ['a management key', 'management', 403],
  ])('rejects the upgrade with %s', async (_name, key, status) => {
    const presented = key === 'management' ? gateway.managementKey : key;
    expect(await statusOf(gateway.url, presented)).toBe(status);
  });

  it('counts each of its requests against the rate limit of its key', async () => {
    const key = await makeKey({ rate_limit_per_minute: 2 });
    const caller = await Caller.open(gateway.url, key.key);
    const answers: Json[] = [];
    // The minute may change in between.
    for (let tries = 0; tries < 5; tries++) {
      answers.push(await caller.answer({ model: ECHO, input: 'x' }));
    }
    expect(answers[0]).toMatchObject({ type: 'response.completed' });
    expect(answers.find(({ type }) => type === 'error')).toMatchObject({
      status: 429,
      error: { param: 'rate_limit_per_minute' },
      headers: { 'retry-after': expect.any(String) },
    });
    caller.socket.close();
  });

  it('answers many wrong keys of an address with 429', async () => {
    let status = 0;
    for (let tries = 0; tries < 250 && status !== 429; tries++) {
      status = await statusOf(gateway.url, `sk-wrong-${tries}`);
    }
    expect(status).toBe(429);
    const caller = await Caller.open(gateway.url, gateway.apiKey);
    caller.socket.close();
  });

  it('rejects messages above 20 MB', async () => {
    const caller = await Caller.open(gateway.url, gateway.apiKey);
    caller.send({ model: ECHO, input: 'x'.repeat(20_000_001) });
    await until(() => caller.closed !== undefined);
    expect([1009, 1006]).toContain(caller.closed!.code);
  });

  it('rejects messages in thousands of fragments', async () => {
    const caller = await Caller.open(gateway.url, gateway.apiKey);
    for (let piece = 0; piece < 3_000; piece++) caller.socket.send('', { fin: false });
    await until(() => caller.closed !== undefined);
    expect(caller.closed).toEqual({ code: 1008 });
  });

  it('closes soon after its key was revoked', async () => {
    const { id, key } = await makeKey();
    const caller = await Caller.open(gateway.url, key);
    await gateway.fetch(`/v1/customer/api-keys/${id}`, {
      method: 'DELETE',
      headers: { authorization: `Bearer ${gateway.managementKey}` },
    });
    await until(() => caller.closed !== undefined);
    expect(caller.closed).toEqual({ code: 1008 });
  });

  it('ignores requests for another upgrade', async () => {
    const body = JSON.stringify({ model: ECHO, input: 'Hello' });
    const request = http.request(`${gateway.url}/v1/responses`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${gateway.apiKey}`,
        'content-type': 'application/json',
        'content-length': Buffer.byteLength(body),
        connection: 'Upgrade, HTTP2-Settings',
        upgrade: 'h2c',
        'http2-settings': 'AAMAAABkAAQCAAAAAAIAAAAA',
      },
    });
    request.end(body);
    const [response] = (await once(request, 'response')) as [http.IncomingMessage];
    let text = '';
    for await (const piece of response) text += String(piece);
    expect(response.statusCode).toBe(200);
    expect(JSON.parse(text)).toMatchObject({ output_text: 'Sandbox echo: Hello' });
  });

  it('finishes an answer when the service stops, and closes idle sockets', async () => {
    const letGo = holdBack(fake);
    const [busy, idle] = await Promise.all([
      Caller.open(gateway.url, gateway.apiKey),
      Caller.open(gateway.url, gateway.apiKey),
    ]);
    busy.send({ model: MODEL, input: 'x' });
    await until(() => fake.calls.length === 1);
    expect(await findLedgerFaults(gateway.database)).toEqual([]);
    closing = gateway.close();
    await until(() => idle.closed !== undefined);
    expect(idle.closed).toEqual({ code: 1001 });
    expect(busy.closed).toBeUndefined();
    letGo();
    await until(() => busy.closed !== undefined);
    expect(busy.types).toContain('response.completed');
    expect(busy.closed).toEqual({ code: 1001 });
    await closing;
  });
});

/** Returns the status of an upgrade request. */
async function statusOf(url: string, key: string | undefined): Promise<number> {
  const socket = new WebSocket(`${url.replace('http', 'ws')}/v1/responses`, {
    headers: key === undefined ? {} : { authorization: `Bearer ${key}` },
  });
  socket.on('error', () => undefined);
  const [request, response] = (await once(socket, 'unexpected-response')) as [
    http.ClientRequest,
    http.IncomingMessage,
  ];
  request.destroy();
  return response.statusCode ?? 0;
}
