import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import OpenAI from 'openai';
import { bootGateway, type BootedGateway } from '../support/boot-gateway.js';
import { findLedgerFaults } from '../support/ledger-invariants.js';

const ECHO = 'sandbox/echo';
const UNKNOWN = `conv_${'0'.repeat(48)}`;

describe('/v1/conversations', () => {
  let gateway: BootedGateway;
  let client: OpenAI;

  beforeAll(async () => {
    gateway = await bootGateway();
    client = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: gateway.apiKey, maxRetries: 0 });
  });
  afterAll(async () => {
    expect(await findLedgerFaults(gateway.database)).toEqual([]);
    await gateway.close();
  });

  const textsOf = async (id: string): Promise<string[]> => {
    const texts: string[] = [];
    for await (const item of client.conversations.items.list(id, { order: 'asc', limit: 3 })) {
      const { content } = item as unknown as { content: { text: string }[] };
      texts.push(content.map(({ text }) => text).join());
    }
    return texts;
  };

  it('are created, read, changed and deleted', async () => {
    const made = await client.conversations.create({
      metadata: { topic: 'demo' },
      items: [{ role: 'user', content: 'Hello! 👋 \u0000' }],
    });
    expect(made).toEqual({
      id: expect.stringMatching(/^conv_[0-9a-f]{48}$/),
      object: 'conversation',
      created_at: expect.any(Number),
      metadata: { topic: 'demo' },
    });
    expect(await client.conversations.retrieve(made.id)).toEqual(made);
    const changed = await client.conversations.update(made.id, { metadata: { topic: 'other' } });
    expect(changed).toEqual({ ...made, metadata: { topic: 'other' } });
    expect(await textsOf(made.id)).toEqual(['Hello! 👋 \u0000']);
    expect(await client.conversations.delete(made.id)).toEqual({
      id: made.id,
      object: 'conversation.deleted',
      deleted: true,
    });
    await expect(client.conversations.retrieve(made.id)).rejects.toMatchObject({ status: 404 });
    const { rows } = await gateway.database.query(
      'SELECT FROM conversation_items WHERE conversation_id = $1',
      [made.id],
    );
    expect(rows).toEqual([]);
  });

  it('have items, which are listed in both orders, read and deleted', async () => {
    const { id } = await client.conversations.create();
    const added = await client.conversations.items.create(id, {
      items: ['one', 'two', 'three', 'four'].map((content) => ({ role: 'user', content })),
    });
    expect(added).toMatchObject({ object: 'list', has_more: false, data: { length: 4 } });
    expect(added.data[0]).toMatchObject({
      id: expect.stringMatching(/^msg_/),
      type: 'message',
      status: 'completed',
      role: 'user',
      content: [{ type: 'input_text', text: 'one' }],
    });
    expect(await textsOf(id)).toEqual(['one', 'two', 'three', 'four']);
    const newest = await client.conversations.items.list(id, { limit: 1 });
    expect(newest.data).toEqual([added.data[3]]);
    const second = added.data[1]!.id!;
    const place = { conversation_id: id };
    expect(await client.conversations.items.retrieve(second, place)).toEqual(added.data[1]);
    expect(await client.conversations.items.delete(second, place)).toMatchObject({ id });
    expect(await textsOf(id)).toEqual(['one', 'three', 'four']);
    for (const missing of [second, 'a\u0000']) {
      const { items } = client.conversations;
      const refusal = { status: 404 };
      await expect(items.retrieve(missing, place)).rejects.toMatchObject(refusal);
      await expect(items.delete(missing, place)).rejects.toMatchObject(refusal);
      await expect(items.list(id, { after: missing })).rejects.toMatchObject(refusal);
    }
  });

  it('stream long lists in pieces, and return single items of any length', async () => {
    const { id } = await client.conversations.create();
    expect((await client.conversations.items.list(id)).data).toEqual([]);
    const texts = [600_000, 600_000, 1, 1_200_000, 1].map((length) => 'é'.repeat(length));
    const items = texts.map((content) => ({ role: 'user' as const, content }));
    const { data } = await client.conversations.items.create(id, { items });
    expect(await textsOf(id)).toEqual(texts);
    const answer = await gateway.fetch(`/v1/conversations/${id}/items?limit=4`);
    expect(answer.headers.get('content-type')).toMatch(/^application\/json/);
    expect(answer.headers.get('content-length')).toBeNull();
    const page = data.toReversed().slice(0, 4);
    expect(await answer.json()).toEqual({
      ...{ object: 'list', data: page, first_id: page[0]!.id, last_id: page[3]!.id },
      has_more: true,
    });
    const place = { conversation_id: id };
    expect(await client.conversations.items.retrieve(data[3]!.id!, place)).toEqual(data[3]);
  });

  it.each(['conv_0', 'a\u0000'])('are not found under an unknown id: %j', async (id) => {
    const refusal = { status: 404 };
    const { conversations } = client;
    const items = [{ role: 'user' as const, content: 'Hello!' }];
    await expect(conversations.retrieve(id)).rejects.toMatchObject(refusal);
    await expect(conversations.update(id, { metadata: {} })).rejects.toMatchObject(refusal);
    await expect(conversations.delete(id)).rejects.toMatchObject(refusal);
    await expect(conversations.items.create(id, { items })).rejects.toMatchObject(refusal);
    const body = { model: ECHO, input: 'Hello!', conversation: id };
    await expect(client.responses.create(body)).rejects.toMatchObject(refusal);
  });

  it.each([false, true])(
    'are continued by a response, which is appended (stream: %s)',
    async (stream) => {
      const { id } = await client.conversations.create({
        items: [{ role: 'user', content: 'My name is Alice.' }],
      });
      const body = { model: ECHO, input: 'What is my name?', conversation: id, store: !stream };
      if (stream) {
        for await (const event of client.responses.stream(body))
          expect(event.type).toMatch(/^resp/);
      } else {
        const response = await client.responses.create({ ...body, conversation: { id } });
        expect(response).toMatchObject({ conversation: { id }, previous_response_id: null });
        expect(await client.responses.retrieve(response.id)).toMatchObject({
          conversation: { id },
        });
      }
      expect(await textsOf(id)).toEqual([
        'My name is Alice.',
        'What is my name?',
        'Sandbox echo: What is my name?',
      ]);
      const counted = await client.responses.inputTokens.count({
        model: ECHO,
        input: 'x',
        conversation: id,
      });
      expect(counted.input_tokens).toBeGreaterThan(15);
    },
  );

  it('keep answers that end at once, in order', async () => {
    const { id } = await client.conversations.create();
    const names = Array.from({ length: 12 }, (_, index) => `turn ${index}`);
    await Promise.all(
      names.map((input) => client.responses.create({ model: ECHO, input, conversation: id })),
    );
    const texts = await textsOf(id);
    expect(texts).toHaveLength(24);
    for (let index = 0; index < texts.length; index += 2) {
      expect(texts[index + 1]).toBe(`Sandbox echo: ${texts[index]}`);
    }
    expect(new Set(texts).size).toBe(24);
  });

  it('store nothing of a failed answer, and may be deleted meanwhile', async () => {
    const { id } = await client.conversations.create();
    const failed = await gateway.post('/v1/responses', {
      model: 'sandbox/fault-500',
      input: 'Hi',
      conversation: id,
    });
    expect(failed.status).toBe(502);
    expect(await textsOf(id)).toEqual([]);
    const running = client.responses.create({
      model: 'sandbox/words',
      input: '50000',
      conversation: id,
    });
    await client.conversations.delete(id);
    const response = await running.catch((error: unknown) => error);
    expect(response).toMatchObject(
      response instanceof Error ? { status: 404 } : { status: 'completed' },
    );
  });

  it('may be answered in the background', async () => {
    const { id } = await client.conversations.create();
    const { id: responseId } = await client.responses.create({
      model: ECHO,
      input: 'later',
      conversation: id,
      background: true,
    });
    let status: unknown;
    do ({ status } = await client.responses.retrieve(responseId));
    while (status === 'queued' || status === 'in_progress');
    expect(status).toBe('completed');
    expect(await textsOf(id)).toEqual(['later', 'Sandbox echo: later']);
  });

  it.each<[string, string, object | undefined, number, string]>([
    ['GET', `/${UNKNOWN}`, undefined, 404, 'id'],
    ['DELETE', `/${UNKNOWN}`, undefined, 404, 'id'],
    ['POST', `/${UNKNOWN}`, { metadata: {} }, 404, 'id'],
    ['GET', `/${UNKNOWN}/items`, undefined, 404, 'id'],
    ['POST', `/${UNKNOWN}/items`, { items: [{ role: 'user', content: 'x' }] }, 404, 'id'],
    ['POST', '', { items: [{ role: 'nobody', content: 'x' }] }, 400, 'items.0.role'],
    ['POST', '', { items: [{ type: 'item_reference', id: 'x' }] }, 400, 'items.0'],
    ['POST', '', { items: Array(21).fill({ role: 'user', content: 'x' }) }, 400, 'items'],
    ['POST', '', { metadata: { a: 1 } }, 400, 'metadata.a'],
    ['POST', '', { items: 'x' }, 400, 'items'],
  ])('reject %s %s %j', async (method, path, body, status, param) => {
    const response = await gateway.fetch(`/v1/conversations${path}`, {
      method,
      ...(body && {
        body: JSON.stringify(body),
        headers: { 'content-type': 'application/json' },
      }),
    });
    expect(response.status).toBe(status);
    expect(await response.json()).toMatchObject({ error: { param } });
  });

  it.each([
    [{ conversation: UNKNOWN }, 404],
    [{ conversation: 7 }, 400],
    [{ conversation: {} }, 400],
    [{ conversation: UNKNOWN, previous_response_id: 'resp_x' }, 400],
  ])('reject a response with %j', async (fields, status) => {
    const response = await gateway.post('/v1/responses', { model: ECHO, input: 'x', ...fields });
    expect(response.status).toBe(status);
    expect(await response.json()).toMatchObject({ error: { param: 'conversation' } });
  });
});
