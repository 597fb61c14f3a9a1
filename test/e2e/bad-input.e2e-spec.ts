import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { request as httpRequest } from 'node:http';
import { gzipSync } from 'node:zlib';
import { bootGateway, type BootedGateway } from '../support/boot-gateway.js';
import { expectError, partsOf, type AnswerParts } from '../support/error-answers.js';
import { startFakeOpenAi, type FakeOpenAi } from '../support/fake-openai.js';
import { findLedgerFaults, readLedger } from '../support/ledger-invariants.js';
import { writeOperatorFiles, type OperatorFiles } from '../support/operator-files.js';
import { RawConnection, requestHead, type RawAnswer } from '../support/raw-connection.js';

const CREDITS = 10_000_000;
const CHAT = '/v1/chat/completions';
const MANY = 100_000;
const NUL = '\u0000';
const LONE = '\ud800';
const USER = { role: 'user', content: 'Hello' };

describe('bad input', () => {
  let fake: FakeOpenAi;
  let files: OperatorFiles;
  let gateway: BootedGateway;
  /** Ids of the good requests that were under way beside the bad ones. */
  const goodIds: string[] = [];
  const refusedIds: string[] = [];

  beforeAll(async () => {
    fake = await startFakeOpenAi();
    files = await writeOperatorFiles({ one: fake.baseUrl }, [
      { id: 'one/fam:*', pricing: { prompt: '0.000001', completion: '0.000002' } },
    ]);
    gateway = await bootGateway({
      ...files.environment,
      GATEWAY_BOOTSTRAP_CREDITS: String(CREDITS),
    });
  });
  afterAll(async () => {
    await gateway.close();
    await fake.close();
    await files.remove();
  });

  /** Sends something bad while a good request is under way. */
  async function amidGood<Answer>(bad: () => Promise<Answer>): Promise<Answer> {
    const good = gateway.post(CHAT, { model: 'sandbox/echo', messages: [USER] });
    const [answer, response] = await Promise.all([bad(), good]);
    expect(response.status).toBe(200);
    await response.text();
    goodIds.push(response.headers.get('x-request-id')!);
    return answer;
  }

  async function expectRefused(
    send: () => Promise<Response>,
    status: number,
    param: string,
    type = 'invalid_request_error',
  ): Promise<void> {
    const answer = await amidGood(async () => partsOf(await send()));
    refusedIds.push(expectError(answer, status, type, param));
  }

  const chat = (fields: object): Promise<Response> =>
    gateway.post(CHAT, { model: 'sandbox/echo', messages: [USER], ...fields });

  const raw = (body: string | Buffer, headers: Record<string, string> = {}): Promise<Response> =>
    gateway.fetch(CHAT, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body,
    });

  describe('a field of the wrong type', () => {
    const message = (fields: object): object => ({ messages: [USER, { role: 'user', ...fields }] });
    it.each<[string, object]>([
      ['model', { model: 5 }],
      ['model', { model: {} }],
      ['model', { model: ['sandbox/echo'] }],
      ['model', { model: true }],
      ['model', { model: `sandbox/${'x'.repeat(256)}` }],
      ['models', { models: 'sandbox/echo' }],
      ['models', { models: { 0: 'sandbox/echo' } }],
      ['models.0', { models: [5] }],
      ['models.0', { models: [''] }],
      ['models.1', { models: ['sandbox/words', null] }],
      ['messages', { messages: 'Hello' }],
      ['messages', { messages: USER }],
      ['messages', { messages: 5 }],
      ['messages.0', { messages: ['Hello'] }],
      ['messages.0', { messages: [null] }],
      ['messages.0', { messages: [[USER]] }],
      ['messages.1.role', { messages: [USER, { content: 'x' }] }],
      ['messages.1.role', message({ role: 'wizard', content: 'x' })],
      ['messages.1.role', message({ role: null, content: 'x' })],
      ['messages.1.content', message({})],
      ['messages.1.content', message({ content: null })],
      ['messages.1.content', message({ content: 5 })],
      ['messages.1.content', message({ content: { type: 'text', text: 'x' } })],
      ['messages.1.content.0', message({ content: ['x'] })],
      ['messages.1.content.0', message({ content: [null] })],
      ['messages.1.content.0.type', message({ content: [{}] })],
      ['messages.1.content.0.type', message({ content: [{ type: 5 }] })],
      ['messages.1.content.0.text', message({ content: [{ type: 'text' }] })],
      ['messages.1.content.0.text', message({ content: [{ type: 'text', text: ['x'] }] })],
      ['messages.1.content.0.image_url.url', message({ content: [{ type: 'image_url' }] })],
      ['messages.1.name', message({ content: 'x', name: 5 })],
      ['messages.1.tool_call_id', message({ role: 'tool', content: 'x' })],
      ['messages.1.tool_call_id', message({ role: 'tool', content: 'x', tool_call_id: 5 })],
      ['messages.1.tool_calls', message({ role: 'assistant', tool_calls: {} })],
      ['messages.1.tool_calls.0', message({ role: 'assistant', tool_calls: ['x'] })],
      ['messages.1.tool_calls.0.id', message({ role: 'assistant', tool_calls: [{}] })],
      [
        'messages.1.tool_calls.0.function.name',
        message({ role: 'assistant', tool_calls: [{ id: 'a', type: 'function' }] }),
      ],
      [
        'messages.1.tool_calls.0.function.arguments',
        message({ role: 'assistant', tool_calls: [{ id: 'a', function: { name: 'f' } }] }),
      ],
      ['input', { messages: undefined, input: 5 }],
      ['input', { messages: undefined, input: {} }],
      ['input', { messages: undefined, input: [] }],
      ['input.0', { messages: undefined, input: ['x'] }],
      ['input.0.role', { messages: undefined, input: [{}] }],
      ['input.0.type', { messages: undefined, input: [{ type: 5 }] }],
      ['input.0.content', { messages: undefined, input: [{ role: 'user' }] }],
      ['input.0.content.0', { messages: undefined, input: [{ role: 'user', content: [5] }] }],
      ['input.0.call_id', { messages: undefined, input: [{ type: 'function_call' }] }],
      ['stream', { stream: 'true' }],
      ['stream', { stream: 1 }],
      ['temperature', { temperature: '1' }],
      ['temperature', { temperature: [1] }],
      ['max_tokens', { max_tokens: '10' }],
      ['max_tokens', { max_tokens: 1.5 }],
      ['max_tokens', { max_tokens: 0 }],
      ['max_tokens', { max_tokens: -1 }],
      ['max_tokens', { max_tokens: 1e15 }],
      ['max_completion_tokens', { max_completion_tokens: {} }],
      ['max_completion_tokens', { max_completion_tokens: 0 }],
      ['top_p', { top_p: '1' }],
      ['n', { n: 0 }],
      ['n', { n: 1.5 }],
      ['n', { n: 1_000_000 }],
      ['tools', { tools: {} }],
      ['tools', { tools: 'search' }],
      ['tools.0', { tools: ['search'] }],
      ['tools.0.type', { tools: [{}] }],
      ['tools.0.type', { tools: [{ type: 5 }] }],
      ['tools.0.function', { tools: [{ type: 'function', function: 'f' }] }],
      ['tools.0.function.name', { tools: [{ type: 'function', function: {} }] }],
      ['tools.0.function.name', { tools: [{ type: 'function', function: { name: '' } }] }],
      [
        'tools.0.function.parameters',
        { tools: [{ type: 'function', function: { name: 'f', parameters: 'x' } }] },
      ],
      ['tool_choice', { tool_choice: 5 }],
      ['tool_choice', { tool_choice: [] }],
      ['parallel_tool_calls', { parallel_tool_calls: 'yes' }],
      ['response_format', { response_format: 'json_object' }],
      ['response_format.type', { response_format: {} }],
      ['response_format.json_schema', { response_format: { type: 'json_schema', json_schema: 5 } }],
      ['reasoning', { reasoning: 'high' }],
      ['reasoning.effort', { reasoning: { effort: 5 } }],
      ['reasoning.max_tokens', { reasoning: { max_tokens: -1 } }],
      ['reasoning_effort', { reasoning_effort: 5 }],
      ['logprobs', { logprobs: 'true' }],
      ['logprobs', { logprobs: 3 }],
      ['top_logprobs', { top_logprobs: 1.5 }],
      ['top_logprobs', { top_logprobs: 21 }],
      ['logit_bias', { logit_bias: [] }],
      ['logit_bias.50256', { logit_bias: { 50256: 'x' } }],
      ['stream_options', { stream_options: true }],
      ['stream_options.include_usage', { stream_options: { include_usage: 'yes' } }],
      ['stop', { stop: 5 }],
      ['stop', { stop: {} }],
      ['stop.1', { stop: ['a', 5] }],
      ['frequency_penalty', { frequency_penalty: '1' }],
      ['presence_penalty', { presence_penalty: true }],
      ['seed', { seed: 1.5 }],
      ['seed', { seed: '7' }],
      ['user', { user: 5 }],
      ['user', { user: { id: 'x' } }],
      ['metadata', { metadata: [] }],
      ['trace', { trace: 'x' }],
      ['provider', { provider: 'openai' }],
      ['provider.order', { provider: { order: 'openai' } }],
      ['provider.order.0', { provider: { order: [5] } }],
      ['provider.only', { provider: { only: {} } }],
      ['provider.ignore.0', { provider: { ignore: [null] } }],
      ['provider.allow_fallbacks', { provider: { allow_fallbacks: 'no' } }],
      ['route', { route: 'fastest' }],
      ['route', { route: 5 }],
    ])('is a 400 that names it: %s in %j', async (param, fields) => {
      await expectRefused(() => chat(fields), 400, param);
    });

    it('is a 400 also where JSON spells a number that is none', async () => {
      const body = `{"model":"sandbox/echo","messages":[${JSON.stringify(USER)}],"temperature":1e999}`;
      await expectRefused(() => raw(body), 400, 'temperature');
    });
  });

  describe('fields that do not go together', () => {
    it.each<[string, string, object]>([
      ['an alias without a slash', 'model', { model: 'gpt-4o' }],
      ['an alias that begins with a slash', 'model', { model: '/echo' }],
      ['an alias that ends with a slash', 'model', { model: 'sandbox/' }],
      ['an empty alias', 'model', { model: '' }],
      ['a fallback without a slash', 'models.1', { models: ['sandbox/words', 'gpt-4o'] }],
      ['neither model nor models', 'model', { model: undefined }],
      ['no model and an empty list', 'model', { model: undefined, models: [] }],
      ['nulls for both', 'model', { model: null, models: null }],
      ['no messages in the list', 'messages', { messages: [] }],
      ['neither messages nor input', 'messages', { messages: undefined }],
      ['both messages and input', 'input', { input: 'Hello' }],
      ['a model that only a prototype has', 'model', { model: undefined, constructor: 'a/b' }],
    ])('%s: 400', async (_name, param, fields) => {
      await expectRefused(() => chat(fields), 400, param);
    });

    it('an unknown model, alone or as a fallback: 404', async () => {
      await expectRefused(() => chat({ model: 'a/b' }), 404, 'model', 'not_found_error');
      await expectRefused(() => chat({ models: ['a/b'] }), 404, 'models', 'not_found_error');
      await expectRefused(() => chat({ model: '__proto__/x' }), 404, 'model', 'not_found_error');
    });

    it('preferences that leave no provider: 404', async () => {
      const provider = { only: ['nobody'] };
      await expectRefused(() => chat({ provider }), 404, 'provider', 'not_found_error');
    });

    it('fields in a __proto__ are none', async () => {
      const body = `{"__proto__":{"model":"sandbox/echo"},"messages":[${JSON.stringify(USER)}]}`;
      await expectRefused(() => raw(body), 400, 'model');
    });
  });

  describe('a body that is no JSON object', () => {
    it.each<[string, string | Buffer]>([
      ['broken off', '{"model":"sandbox/echo"'],
      ['with a trailing comma', '{"model":"sandbox/echo",}'],
      ['in single quotes', "{'model':'sandbox/echo'}"],
      ['no JSON at all', 'Hello'],
      ['an array', '[{"model":"sandbox/echo"}]'],
      ['a string', '"sandbox/echo"'],
      ['null', 'null'],
      ['white space', '  \n '],
      ['a control character in a string', `{"model":"sandbox/echo${NUL}"}`],
      ['a byte order mark', `\ufeff${JSON.stringify({ model: 'sandbox/echo', messages: [USER] })}`],
      ['not UTF-8', Buffer.from([...Buffer.from('{"user":"'), 0xff, 0xfe, 0x22, 0x7d])],
      ['half a character', Buffer.from([...Buffer.from('{"user":"'), 0xe2, 0x82, 0x22, 0x7d])],
      ['a surrogate in UTF-8', Buffer.from([...Buffer.from('{"user":"'), 0xed, 0xa0, 0x80, 0x22])],
      ['UTF-16', Buffer.from(JSON.stringify({ model: 'sandbox/echo' }), 'utf16le')],
      ['a million levels of arrays', '['.repeat(1_000_000)],
      ['a million closed levels', `${'['.repeat(1_000_000)}${']'.repeat(1_000_000)}`],
      ['a million levels of objects', `${'{"a":'.repeat(1_000_000)}1${'}'.repeat(1_000_000)}`],
      ['a field 201 levels deep', `{"user":${'['.repeat(200)}${']'.repeat(200)}}`],
    ])('%s: 400', async (_name, body) => {
      await expectRefused(() => raw(body), 400, 'body');
    });

    it('empty, with a length of 0 or without any: 400', async () => {
      await expectRefused(() => raw(''), 400, 'body');
      await expectRefused(() => gateway.fetch(CHAT, { method: 'POST' }), 400, 'body');
    });

    it('of another content type, such as the default of curl: 415', async () => {
      for (const type of [
        'application/x-www-form-urlencoded',
        'text/plain',
        'application/jsonp',
        'multipart/form-data; boundary=x',
        'x'.repeat(5_000),
      ]) {
        const send = (): Promise<Response> =>
          raw(JSON.stringify({ model: 'sandbox/echo', messages: [USER] }), {
            'content-type': type,
          });
        await expectRefused(send, 415, 'content-type');
      }
    });

    it('compressed: 415', async () => {
      const body = gzipSync(JSON.stringify({ model: 'sandbox/echo', messages: [USER] }));
      for (const encoding of ['gzip', 'br', 'x'.repeat(5_000)]) {
        await expectRefused(
          () => raw(body, { 'content-encoding': encoding }),
          415,
          'content-encoding',
        );
      }
    });
  });

  describe('lists of a hundred thousand', () => {
    const many = <Item>(make: (index: number) => Item): Item[] =>
      Array.from({ length: MANY }, (_, index) => make(index));

    it.each<[string, string, () => object]>([
      ['models', 'models', () => ({ models: many((index) => `a/${index}`) })],
      ['stop', 'stop', () => ({ stop: many(String) })],
      ['provider.order', 'provider.order', () => ({ provider: { order: many(String) } })],
      ['provider.only', 'provider.only', () => ({ provider: { only: many(String) } })],
      [
        'messages, the last one bad',
        `messages.${MANY - 1}.role`,
        () => ({ messages: many((index) => (index < MANY - 1 ? USER : { content: 'x' })) }),
      ],
      [
        'messages of a model that is none',
        'model',
        () => ({ model: 'x', messages: many(() => USER) }),
      ],
      [
        'tools, the last one bad',
        `tools.${MANY - 1}.type`,
        () => ({ tools: many((index) => (index < MANY - 1 ? { type: 'function' } : {})) }),
      ],
      [
        'input, the last one bad',
        `input.${MANY - 1}.arguments`,
        () => ({
          messages: undefined,
          input: many((index) => ({
            type: 'function_call',
            call_id: 'c',
            name: 'f',
            ...(index < MANY - 1 && { arguments: '{}' }),
          })),
        }),
      ],
    ])('%s: 400, soon', async (_name, param, fields) => {
      const startedMs = performance.now();
      await expectRefused(() => chat(fields()), 400, param);
      expect(performance.now() - startedMs).toBeLessThan(10_000);
    });

    it.each<[string, () => object]>([
      ['messages', () => ({ messages: many(() => USER) })],
      ['content parts', () => ({ messages: [{ role: 'user', content: many(textPart) }] })],
      ['tools', () => ({ tools: many(tool), tool_choice: 'none' })],
      ['function calls', () => ({ messages: undefined, input: many(functionCall) })],
      ['biases', () => ({ logit_bias: Object.fromEntries(many((index) => [index, 1])) })],
    ])('%s: answered, soon', async (_name, fields) => {
      const startedMs = performance.now();
      const response = await amidGood(() => chat(fields()));
      expect(response.status).toBe(200);
      await response.text();
      expect(performance.now() - startedMs).toBeLessThan(10_000);
      goodIds.push(response.headers.get('x-request-id')!);
    });

    const textPart = (): object => ({ type: 'text', text: 'x' });
    const tool = (index: number): object => ({ type: 'function', function: { name: `f${index}` } });
    const functionCall = (index: number): object => ({
      type: 'function_call',
      call_id: `c${index}`,
      name: 'f',
      arguments: '{}',
    });
  });

  describe('NUL and lone surrogates', () => {
    const odd = [NUL, LONE, '\udc00', `\\${NUL}${LONE}x`, '\udc00\ud800'];
    const everywhere = (text: string): object => ({
      model: `one/fam:${text}`,
      messages: [
        { role: 'system', content: text, name: text },
        { role: 'user', content: [{ type: 'text', text }], name: text },
        {
          role: 'assistant',
          content: null,
          tool_calls: [
            { id: text, type: 'function', function: { name: text, arguments: `{"a":"${text}"}` } },
          ],
        },
        { role: 'tool', tool_call_id: text, content: text },
        USER,
      ],
      user: text,
      stop: [text, text],
      tools: [
        {
          type: 'function',
          function: { name: text, description: text, parameters: { [text]: text } },
        },
      ],
      response_format: { type: 'json_schema', json_schema: { name: text, schema: {} } },
      reasoning: { effort: text },
      provider: { order: [text], ignore: [text] },
      metadata: { [text]: text },
      trace: { trace_name: text, priority: text },
      [text]: text,
    });

    it.each(odd)('are taken in every text of a call, streamed or not: %j', async (text) => {
      for (const stream of [false, true]) {
        fake.calls.length = 0;
        const response = await amidGood(() =>
          gateway.post(CHAT, { ...everywhere(text), stream }, { 'x-gateway-cache': 'false' }),
        );
        const body = await response.text();
        expect([response.status, body]).toEqual([200, expect.stringContaining('the')]);
        expect(body).toContain(JSON.stringify(`one/fam:${text}`));
        const id = response.headers.get('x-request-id')!;
        goodIds.push(id);
        const [call] = fake.calls;
        const sent = everywhere(text) as { messages: unknown; tools: unknown; user: string };
        expect(call?.body).toMatchObject({
          model: `fam:${text}`,
          messages: sent.messages,
          tools: sent.tools,
          user: text,
          stop: [text, text],
          reasoning_effort: text,
          metadata: { [text]: text },
        });

        const shown = await gateway.fetch(`/v1/generation?id=${id}`);
        expect(await shown.json()).toMatchObject({ data: { id, model: `one/fam:${text}` } });
      }
    });

    it.each(odd)('in the place of a value that has to be another: a refusal (%j)', async (text) => {
      await expectRefused(() => chat({ route: text }), 400, 'route');
      await expectRefused(() => chat({ model: text }), 400, 'model');
      await expectRefused(() => chat({ model: `${text}/x` }), 404, 'model', 'not_found_error');
      await expectRefused(() => chat({ messages: [{ role: text }] }), 400, 'messages.0.role');
      await expectRefused(
        () => chat({ messages: undefined, input: [{ type: text }] }),
        400,
        'input.0.type',
      );
    });

    it.each(odd)('are taken in the name of a key and given back as they were: %j', async (name) => {
      const made = await gateway.post('/v1/customer/api-keys', { name });
      expect(made.status).toBe(201);
      const { id, name: madeName } = (await made.json()) as { id: string; name: string };
      expect(madeName).toBe(name);
      const read = await gateway.fetch(`/v1/customer/api-keys/${id}`);
      expect(await read.json()).toMatchObject({ id, name });
    });

    it.each([...odd, ''])('as the name of a field of a key: 400 (%j)', async (field) => {
      const body = `{"name":"n",${JSON.stringify(field)}:1}`;
      const answer = await amidGood(async () =>
        partsOf(await gateway.post('/v1/customer/api-keys', body)),
      );
      expectError(answer, 400, 'invalid_request_error', field || 'body');
    });

    it.each(['__proto__', 'constructor', 'prototype', 'toString'])(
      'fields in the %s of a key are none',
      async (field) => {
        const body = `{"name":"n","${field}":{"type":"management","prototype":{"name":""}}}`;
        const answer = await amidGood(() => gateway.post('/v1/customer/api-keys', body));
        expect([201, 400]).toContain(answer.status);
        if (answer.status === 400) return;
        const made = (await answer.json()) as { key: string; name: string };
        expect(made.name).toBe('n');
        expect(made.key).not.toMatch(/^sk-mgmt-/);
      },
    );

    it('a field name of a megabyte is not sent back whole', async () => {
      const answer = await partsOf(
        await gateway.post('/v1/customer/api-keys', { name: 'n', ['x'.repeat(1_000_000)]: 1 }),
      );
      expect(answer.status).toBe(400);
      expect(answer.body.length).toBeLessThan(2_000);
      const long = await partsOf(await chat({ logit_bias: { ['x'.repeat(1_000_000)]: 'y' } }));
      expect(long.status).toBe(400);
      expect(long.body.length).toBeLessThan(2_000);
    });

    it.each(['%00', '%ED%A0%80', '%F0%9F', 'a%00b'])('in a path or query: %s', async (text) => {
      for (const path of [
        `/v1/models/${text}`,
        `/v1/models/sandbox/${text}`,
        `/v1/customer/api-keys/${text}`,
        `/v1/generation?id=${text}`,
        `/v1/customer/logs?model=${text}`,
        `/v1/customer/logs?api_key_id=${text}`,
        `/v1/customer/logs?start_date=${text}`,
        `/v1/${text}`,
      ]) {
        const answer = await partsOf(await gateway.fetch(path));
        expect({ path, isServed: [200, 400, 404].includes(answer.status) }).toEqual({
          path,
          isServed: true,
        });
      }
    });
  });

  describe('a body over 20 MB', () => {
    const limit = 20_000_000;
    const padded = (bytes: number): Buffer => {
      const body = Buffer.alloc(bytes, ' ');
      body.write(JSON.stringify({ model: 'sandbox/echo', messages: [USER] }));
      return body;
    };
    const headers = (): Record<string, string> => ({
      authorization: `Bearer ${gateway.apiKey}`,
      'content-type': 'application/json',
    });
    const send = (body: Buffer, length: Record<string, string>): Promise<AnswerParts> =>
      new Promise((resolve, reject) => {
        const options = { method: 'POST', headers: { ...headers(), ...length } };
        const request = httpRequest(gateway.url + CHAT, options, (response) => {
          const chunks: Buffer[] = [];
          response.on('data', (chunk: Buffer) => chunks.push(chunk));
          response.on('error', reject).on('end', () =>
            resolve({
              status: response.statusCode!,
              header: (name) => response.headers[name] as string | undefined,
              body: Buffer.concat(chunks).toString(),
            }),
          );
        });
        request.on('error', reject).end(body);
      });

    it('is a 413 that its sender can read, with a length and without', async () => {
      const body = padded(limit + 1_000_000);
      const known = await amidGood(() => send(body, { 'content-length': String(body.length) }));
      refusedIds.push(expectError(known, 413, 'invalid_request_error', 'body'));
      const chunked = await amidGood(() => send(body, { 'transfer-encoding': 'chunked' }));
      refusedIds.push(expectError(chunked, 413, 'invalid_request_error', 'body'));
    });

    it('is a 413 also for a sender that reads only after the last byte', async () => {
      const body = padded(limit + 1_000_000);
      const connection = await RawConnection.open(gateway.url);
      connection.socket.pause();
      const length = { 'content-length': body.length };
      connection.send(requestHead(`POST ${CHAT} HTTP/1.1`, { ...headers(), ...length }));
      connection.send(body);
      await new Promise((resolve) => connection.socket.once('drain', resolve));
      connection.socket.resume();
      refusedIds.push(expectRaw(await connection.answer(), 413, 'body'));
      connection.close();
    });

    it('begins at the first byte more', async () => {
      const fitting = padded(limit);
      const taken = await send(fitting, { 'content-length': String(limit) });
      expect([taken.status, taken.body]).toEqual([200, expect.stringContaining('Hello')]);
      goodIds.push(taken.header('x-request-id')!);
      const refused = await send(padded(limit + 1), { 'transfer-encoding': 'chunked' });
      refusedIds.push(expectError(refused, 413, 'invalid_request_error', 'body'));
    });
  });

  describe('a sender with time', () => {
    /** Sends one byte a second until the server closes. */
    async function drip(head: string, piece: string): Promise<RawAnswer & { seconds: number }> {
      const startedMs = performance.now();
      const connection = await RawConnection.open(gateway.url);
      connection.send(head);
      const timer = setInterval(() => connection.send(piece), 1_000);
      try {
        const answer = await connection.answer();
        await connection.closed;
        return { ...answer, seconds: (performance.now() - startedMs) / 1000 };
      } finally {
        clearInterval(timer);
        connection.close();
      }
    }

    it('is told 408 and cut off within 20 s, wherever it drips', async () => {
      const line = `POST ${CHAT} HTTP/1.1`;
      const headers = {
        authorization: `Bearer ${gateway.apiKey}`,
        'content-type': 'application/json',
      };
      const answers = await amidGood(() =>
        Promise.all([
          drip(requestHead(line, { ...headers, 'content-length': 100 }), ' '),
          drip(requestHead(line, { ...headers, 'transfer-encoding': 'chunked' }), '1\r\n \r\n'),
          drip(requestHead(line, { ...headers, 'content-length': 100 }), ''),
          drip(`${line}\r\nhost: gateway\r\nx-slow: `, 'x'),
          drip('', ''),
        ]),
      );
      for (const [index, answer] of answers.entries()) {
        expect(answer.seconds).toBeLessThan(25);
        refusedIds.push(expectRaw(answer, 408, index < 3 ? 'body' : 'request'));
      }
    });
  });

  describe('Expect: 100-continue', () => {
    const body = JSON.stringify({ model: 'sandbox/echo', messages: [USER] });
    async function ask(key: string, fields: Record<string, string | number>): Promise<RawAnswer> {
      connection = await RawConnection.open(gateway.url);
      connection.send(
        requestHead(`POST ${CHAT} HTTP/1.1`, {
          authorization: `Bearer ${key}`,
          'content-type': 'application/json',
          'content-length': body.length,
          expect: '100-continue',
          ...fields,
        }),
      );
      return connection.answer();
    }
    let connection: RawConnection;

    it('lets a caller with a key upload', async () => {
      expect((await ask(gateway.apiKey, {})).status).toBe(100);
      connection.send(body);
      const answer = await connection.answer();
      expect([answer.status, answer.body]).toEqual([200, expect.stringContaining('Hello')]);
      goodIds.push(answer.headers['x-request-id']!);
      connection.close();
    });

    it('lets nobody upload for nothing', async () => {
      const unknown = await ask('sk-unknown', {});
      refusedIds.push(expectRaw(unknown, 401, 'authorization', 'authentication_error'));
      connection.close();
      const large = await ask(gateway.apiKey, { 'content-length': 21_000_000 });
      refusedIds.push(expectRaw(large, 413, 'body'));
      connection.close();
      const form = await ask(gateway.apiKey, { 'content-type': 'text/plain' });
      refusedIds.push(expectRaw(form, 415, 'content-type'));
      connection.close();
    });

    it('is the only expectation that can be met', async () => {
      refusedIds.push(expectRaw(await ask(gateway.apiKey, { expect: 'tea' }), 417, 'expect'));
      connection.close();
    });
  });

  describe('afterwards', () => {
    it('the gateway lives, and its ledger holds nothing of what was refused', async () => {
      await amidGood(async () => undefined);
      expect((await fetch(`${gateway.url}/healthz`)).status).toBe(200);
      const { rows } = await gateway.database.query<{ request_id: string; cost: number }>(
        'SELECT request_id, outcome, cost FROM request_logs',
      );
      expect(rows.map((row) => row.request_id).sort()).toEqual([...goodIds].sort());
      expect(new Set(rows.map((row) => (row as { outcome?: string }).outcome))).toEqual(
        new Set(['completed']),
      );
      expect(new Set(refusedIds).size).toBe(refusedIds.length);

      expect(await findLedgerFaults(gateway.database)).toEqual([]);
      const [account] = await readLedger(gateway.database);
      const spent = rows.reduce((sum, row) => sum + row.cost, 0);
      expect(account).toMatchObject({ balance: CREDITS - spent, held: 0, holds: 0 });
      expect(rows.every(({ cost }) => cost > 0)).toBe(true);
    });
  });
});

function expectRaw(
  { status, headers, body }: RawAnswer,
  expected: number,
  param: string,
  type = 'invalid_request_error',
): string {
  return expectError({ status, header: (name) => headers[name], body }, expected, type, param);
}
