import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { gzipSync } from 'node:zlib';
import { bootGateway, type BootedGateway } from '../support/boot-gateway.js';
import { expectError, partsOf } from '../support/error-answers.js';
import { startFakeOpenAi, type FakeOpenAi } from '../support/fake-openai.js';
import { writeOperatorFiles, type OperatorFiles } from '../support/operator-files.js';
import { CHAT } from '../support/paths.js';
import { Refusals, refusalSettings, USER } from '../support/refusals.js';

const MANY = 15_000;
const NUL = '\u0000';
const LONE = '\ud800';

describe('bad input', () => {
  let fake: FakeOpenAi;
  let files: OperatorFiles;
  let gateway: BootedGateway;
  let refusals: Refusals;

  beforeAll(async () => {
    fake = await startFakeOpenAi();
    files = await writeOperatorFiles({ one: fake.baseUrl }, [
      { id: 'one/fam:*', pricing: { prompt: '0.000001', completion: '0.000002' } },
    ]);
    gateway = await bootGateway({ ...files.environment, ...refusalSettings });
    refusals = new Refusals(gateway);
  });
  afterAll(async () => {
    await gateway.close();
    await fake.close();
    await files.remove();
  });

  describe('a body that is not a JSON object', () => {
    it.each<[string, string | Buffer]>([
      ['truncated', '{"model":"sandbox/echo"'],
      ['with a trailing comma', '{"model":"sandbox/echo",}'],
      ['in single quotes', "{'model':'sandbox/echo'}"],
      ['not JSON at all', 'Hello'],
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
      ['20 MB of brackets', '['.repeat(20_000_000)],
      ['20 MB of empty objects', `{"user":[${'{},'.repeat(6_600_000)}1]}`],
      ['20 MB of members', `{${'"a":1,'.repeat(3_300_000)}"b":1}`],
      ['a field 201 levels deep', `{"user":${'['.repeat(200)}${']'.repeat(200)}}`],
    ])('%s: 400', async (_name, body) => {
      await refusals.expectRefused(() => refusals.raw(body), 400, 'body');
    });

    it('empty, with a length of 0 or without any: 400', async () => {
      await refusals.expectRefused(() => refusals.raw(''), 400, 'body');
      await refusals.expectRefused(() => gateway.fetch(CHAT, { method: 'POST' }), 400, 'body');
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
          refusals.raw(JSON.stringify({ model: 'sandbox/echo', messages: [USER] }), {
            'content-type': type,
          });
        await refusals.expectRefused(send, 415, 'content-type');
      }
    });

    it('compressed: 415', async () => {
      const body = gzipSync(JSON.stringify({ model: 'sandbox/echo', messages: [USER] }));
      for (const encoding of ['gzip', 'br', 'x'.repeat(5_000)]) {
        await refusals.expectRefused(
          () => refusals.raw(body, { 'content-encoding': encoding }),
          415,
          'content-encoding',
        );
      }
    });
  });

  describe('lists of fifteen thousand', () => {
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
      ['messages of an invalid model', 'model', () => ({ model: 'x', messages: many(() => USER) })],
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
    ])('%s: 400, promptly', async (_name, param, fields) => {
      const startedMs = performance.now();
      await refusals.expectRefused(() => refusals.chat(fields()), 400, param);
      expect(performance.now() - startedMs).toBeLessThan(25_000);
    });

    it.each<[string, () => object]>([
      ['messages', () => ({ messages: many(() => USER) })],
      ['content parts', () => ({ messages: [{ role: 'user', content: many(textPart) }] })],
      ['tools', () => ({ tools: many(tool), tool_choice: 'none' })],
      ['function calls', () => ({ messages: undefined, input: many(functionCall) })],
      ['biases', () => ({ logit_bias: Object.fromEntries(many((index) => [index, 1])) })],
    ])('%s: answered, promptly', async (_name, fields) => {
      const startedMs = performance.now();
      const response = await refusals.amidGood(() => refusals.chat(fields()));
      expect(response.status).toBe(200);
      await response.text();
      expect(performance.now() - startedMs).toBeLessThan(25_000);
      refusals.goodIds.push(response.headers.get('x-request-id')!);
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
      model: 'one/fam:any',
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

    it.each(odd)('are accepted in every text of a call, streamed or not: %j', async (text) => {
      for (const stream of [false, true]) {
        fake.calls.length = 0;
        const response = await refusals.amidGood(() =>
          gateway.post(CHAT, { ...everywhere(text), stream }, { 'x-gateway-cache': 'false' }),
        );
        const body = await response.text();
        expect([response.status, body]).toEqual([200, expect.stringContaining('the')]);
        expect(body).toContain('one/fam:any');
        const id = response.headers.get('x-request-id')!;
        refusals.goodIds.push(id);
        const [call] = fake.calls;
        const sent = everywhere(text) as { messages: unknown; tools: unknown; user: string };
        expect(call?.body).toMatchObject({
          model: 'fam:any',
          messages: sent.messages,
          tools: sent.tools,
          user: text,
          stop: [text, text],
          reasoning_effort: text,
          metadata: { [text]: text },
        });

        const shown = await gateway.fetch(`/v1/generation?id=${id}`);
        expect(await shown.json()).toMatchObject({ data: { id, model: 'one/fam:any' } });
      }
    });

    it.each(odd)('instead of another type: rejected (%j)', async (text) => {
      await refusals.expectRefused(() => refusals.chat({ route: text }), 400, 'route');
      await refusals.expectRefused(() => refusals.chat({ model: text }), 400, 'model');
      await refusals.expectRefused(
        () => refusals.chat({ model: `one/fam:${text}` }),
        404,
        'model',
        'not_found_error',
      );
      await refusals.expectRefused(
        () => refusals.chat({ model: `${text}/x` }),
        404,
        'model',
        'not_found_error',
      );
      await refusals.expectRefused(
        () => refusals.chat({ messages: [{ role: text }] }),
        400,
        'messages.0.role',
      );
      await refusals.expectRefused(
        () => refusals.chat({ messages: undefined, input: [{ type: text }] }),
        400,
        'input.0.type',
      );
    });

    it.each(odd)('are accepted in the name of a key and returned unchanged: %j', async (name) => {
      const made = await gateway.post('/v1/customer/api-keys', { name });
      expect(made.status).toBe(201);
      const { id, name: madeName } = (await made.json()) as { id: string; name: string };
      expect(madeName).toBe(name);
      const read = await gateway.fetch(`/v1/customer/api-keys/${id}`);
      expect(await read.json()).toMatchObject({ id, name });
    });

    it.each([...odd, ''])('as the name of a field of a key: 400 (%j)', async (field) => {
      const body = `{"name":"n",${JSON.stringify(field)}:1}`;
      const answer = await refusals.amidGood(async () =>
        partsOf(await gateway.post('/v1/customer/api-keys', body)),
      );
      expectError(answer, 400, 'invalid_request_error', field || 'body');
    });

    it.each(['__proto__', 'constructor', 'prototype', 'toString'])(
      'fields in the %s of a key are ignored',
      async (field) => {
        const body = `{"name":"n","${field}":{"type":"management","prototype":{"name":""}}}`;
        const answer = await refusals.amidGood(() => gateway.post('/v1/customer/api-keys', body));
        expect([201, 400]).toContain(answer.status);
        if (answer.status === 400) return;
        const made = (await answer.json()) as { key: string; name: string };
        expect(made.name).toBe('n');
        expect(made.key).not.toMatch(/^sk-mgmt-/);
      },
    );

    it('a field name of a megabyte is not echoed completely', async () => {
      const answer = await partsOf(
        await gateway.post('/v1/customer/api-keys', { name: 'n', ['x'.repeat(1_000_000)]: 1 }),
      );
      expect(answer.status).toBe(400);
      expect(answer.body.length).toBeLessThan(2_000);
      const long = await partsOf(
        await refusals.chat({ logit_bias: { ['x'.repeat(1_000_000)]: 'y' } }),
      );
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

  it('leaves no trace', async () => {
    await refusals.expectNoTrace();
  });
});
