import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { randomBytes } from 'node:crypto';
import OpenAI from 'openai';
import { bootGateway, type BootedGateway } from '../support/boot-gateway.js';
import { expectError, partsOf } from '../support/error-answers.js';
import { loggedRequest } from '../support/logged-request.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';

const SECRET = 'a-secret-for-tests-of-enough-length';
const API_KEY = 'sk-responses-state-key-0001';
const OTHER_KEY = `sk-${randomBytes(20).toString('hex')}`;

describe('stored responses', () => {
  let database: TestDatabase;
  let one: BootedGateway;
  let two: BootedGateway;
  let clients: [OpenAI, OpenAI];

  beforeAll(async () => {
    database = await createTestDatabase();
    const environment = { GATEWAY_SECRET: SECRET, GATEWAY_BOOTSTRAP_API_KEY: API_KEY };
    one = await bootGateway(environment, { database });
    two = await bootGateway({ ...environment, GATEWAY_SETTLE: 'after-response' }, { database });
    clients = [one, two].map(
      ({ url }) => new OpenAI({ baseURL: `${url}/v1`, apiKey: API_KEY, maxRetries: 0 }),
    ) as [OpenAI, OpenAI];
    // Another tenant with its own key.
    const { rows } = await database.database.query<{ id: string }>(
      "INSERT INTO tenants (name) VALUES ('other') RETURNING id",
    );
    await database.database.query(
      `INSERT INTO api_keys (tenant_id, type, name, key_hash, key_preview, rate_limit_per_minute)
       VALUES ($1, 'routing', 'other', sha256($2::bytea), 'sk-other', 1000)`,
      [rows[0]!.id, OTHER_KEY],
    );
    await database.database.query(
      'INSERT INTO accounts (tenant_id, balance, granted) VALUES ($1, 0, 0)',
      [rows[0]!.id],
    );
  });
  afterAll(async () => {
    await one.close();
    await two.close();
    await database.drop();
  });

  const create = (
    client: OpenAI,
    input: string,
    rest: Partial<OpenAI.Responses.ResponseCreateParamsNonStreaming> = {},
  ): Promise<OpenAI.Responses.Response> =>
    client.responses.create({ model: 'sandbox/echo', input, ...rest });

  it('continue a conversation over turns and instances, each readable at once', async () => {
    const [first, second] = clients;
    const turns = ['one', 'two words', 'three more words', 'four'];
    let previous: OpenAI.Responses.Response | undefined;
    let words = 0;
    for (const [index, input] of turns.entries()) {
      const client = index % 2 === 0 ? first : second;
      const stream = client.responses.stream({
        model: 'sandbox/echo',
        input,
        ...(previous && { previous_response_id: previous.id }),
      });
      const response = await stream.finalResponse();
      expect(response.output_text).toBe(`Sandbox echo: ${input}`);
      // The sandbox counts all words it received, which is the whole conversation.
      words += input.split(' ').length;
      expect(response.usage?.input_tokens).toBe(words);
      words += response.output_text.split(' ').length;
      expect(response.previous_response_id).toBe(previous?.id ?? null);
      const read = await (client === first ? second : first).responses.retrieve(response.id);
      const { id, output_text, usage, status } = response;
      expect(read).toMatchObject({ id, output_text, usage, status });
      previous = response;
    }
  });

  it('may be continued twice, and with another model', async () => {
    const [client] = clients;
    const root = await create(client, 'root');
    const left = await create(client, 'left', { previous_response_id: root.id });
    const right = await client.responses.create({
      model: 'sandbox/words',
      input: '5 words',
      previous_response_id: root.id,
    });
    expect(left.usage?.input_tokens).toBe(5);
    expect(right.usage?.input_tokens).toBe(6);
    expect(right.model).toBe('sandbox/words');
  });

  it('omit instructions, and store text that PostgreSQL rejects', async () => {
    const [client] = clients;
    const odd = 'NUL \u0000 and a lone half \ud800 of 👋 \\u0000';
    const first = await create(client, odd, { instructions: 'Say three words.' });
    expect(await client.responses.retrieve(first.id)).toEqual(first);
    expect(first.output_text).toBe(`Sandbox echo: ${odd}`);
    const { data } = await client.responses.inputItems.list(first.id);
    expect(data).toMatchObject([{ content: [{ type: 'input_text', text: odd }] }]);
    const second = await create(client, 'next', { previous_response_id: first.id });
    const conversation = `${odd} ${first.output_text} next`;
    expect(second.usage?.input_tokens).toBe(conversation.match(/\S+/g)!.length);
  });

  it('are not stored with store: false, which can still follow others', async () => {
    const [client] = clients;
    const first = await create(client, 'kept');
    const count = async (): Promise<number> =>
      (await database.database.query<{ count: number }>('SELECT count(*) FROM stored_responses'))
        .rows[0]!.count;
    const before = await count();
    const second = await create(client, 'not kept', {
      store: false,
      previous_response_id: first.id,
    });
    expect(second).toMatchObject({ store: false });
    expect(second.usage?.input_tokens).toBe(6);
    expect(await count()).toBe(before);
    await expect(client.responses.retrieve(second.id)).rejects.toMatchObject({ status: 404 });
  });

  it('are not visible to others: another tenant, or under a deleted or unknown id', async () => {
    const [client] = clients;
    const { id } = await create(client, 'mine');
    const other = { authorization: `Bearer ${OTHER_KEY}` };
    const ids = [`resp_${'0'.repeat(48)}`, 'resp_1', '%00', "';--", 'x'.repeat(300)];
    const calls: [Record<string, string>, string][] = [
      [other, id],
      ...ids.map((unknown): [Record<string, string>, string] => [{}, unknown]),
    ];
    for (const [headers, unknown] of calls) {
      for (const [path, method] of [
        ['', 'GET'],
        ['', 'DELETE'],
        ['/input_items', 'GET'],
      ] as const) {
        const path_ = `/v1/responses/${unknown}${path}`;
        const answer = await one.fetch(path_, { method, headers });
        expectError(await partsOf(answer), 404, 'not_found_error', 'id');
      }
      if (unknown.length > 256) continue;
      const answer = await one.post(
        '/v1/responses',
        { model: 'sandbox/echo', input: 'x', previous_response_id: unknown },
        headers,
      );
      expectError(await partsOf(answer), 404, 'not_found_error', 'previous_response_id');
    }
    expect(await client.responses.retrieve(id)).toMatchObject({ id });
  });

  it('end a conversation permanently when one of its turns is deleted', async () => {
    const [client] = clients;
    const first = await create(client, 'one');
    const second = await create(client, 'two', { previous_response_id: first.id });
    const third = await create(client, 'three', { previous_response_id: second.id });
    await client.responses.delete(second.id);
    expect(await client.responses.retrieve(third.id)).toEqual(third);
    await expect(create(client, 'x', { previous_response_id: third.id })).rejects.toMatchObject({
      status: 404,
      param: 'previous_response_id',
      message: expect.stringContaining('deleted'),
    });
    // Earlier turns are unchanged.
    const again = await create(client, 'again', { previous_response_id: first.id });
    expect(again.usage?.input_tokens).toBe(5);
  });

  it('do not exist for a disconnected caller', async () => {
    const controller = new AbortController();
    const answer = await one.fetch('/v1/responses', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'sandbox/words', input: '100000 words', stream: true }),
      signal: controller.signal,
    });
    const reader = answer.body!.getReader();
    const { value } = (await reader.read()) as { value: Uint8Array };
    const id = /resp_[0-9a-f]{48}/.exec(Buffer.from(value).toString())![0];
    controller.abort();
    await reader.cancel().catch(() => undefined);
    const requestId = answer.headers.get('x-request-id');
    expect(await loggedRequest(database.database, requestId)).toMatchObject({
      outcome: 'cancelled',
    });
    await expect(clients[0].responses.retrieve(id)).rejects.toMatchObject({ status: 404 });
  });
});
