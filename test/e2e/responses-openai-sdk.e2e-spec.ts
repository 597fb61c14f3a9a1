import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import OpenAI from 'openai';
import type { ResponseStreamEvent } from 'openai/resources/responses/responses';
import { bootGateway, type BootedGateway } from '../support/boot-gateway.js';

const WEATHER: OpenAI.Responses.FunctionTool = {
  type: 'function',
  name: 'weather',
  strict: false,
  parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
};

describe('the official openai package against POST /v1/responses', () => {
  let gateway: BootedGateway;
  let client: OpenAI;

  beforeAll(async () => {
    gateway = await bootGateway();
    client = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: gateway.apiKey, maxRetries: 0 });
  });
  afterAll(async () => {
    await gateway.close();
  });

  it('gets a whole response with every field of its type', async () => {
    const response = await client.responses.create({
      model: 'sandbox/echo',
      input: 'Hello! 你好 👋',
      instructions: 'Be kind.',
      metadata: { ticket: '7' },
      max_output_tokens: 100,
      user: 'end-user-1',
    });
    expect(response.output_text).toBe('Sandbox echo: Hello! 你好 👋');
    expect(response).toMatchObject({
      id: expect.stringMatching(/^resp_[0-9a-f]{48}$/),
      object: 'response',
      status: 'completed',
      model: 'sandbox/echo',
      error: null,
      incomplete_details: null,
      instructions: 'Be kind.',
      metadata: { ticket: '7' },
      max_output_tokens: 100,
      previous_response_id: null,
      parallel_tool_calls: true,
      store: true,
      text: { format: { type: 'text' } },
      tool_choice: 'auto',
      tools: [],
      truncation: 'disabled',
      user: 'end-user-1',
      reasoning: { effort: null, summary: null },
      temperature: 1,
      top_p: 1,
      usage: {
        input_tokens: 5,
        input_tokens_details: { cached_tokens: 0 },
        output_tokens: 5,
        output_tokens_details: { reasoning_tokens: 0 },
        total_tokens: 10,
      },
    });
    expect(response.created_at).toBeGreaterThan(Date.now() / 1000 - 60);
    expect(response.output).toMatchObject([
      {
        id: expect.stringMatching(/^msg_/),
        type: 'message',
        status: 'completed',
        role: 'assistant',
        content: [{ type: 'output_text', annotations: [] }],
      },
    ]);
  });

  it('streams the documented events in order, numbered from 0', async () => {
    const stream = await client.responses.create({
      model: 'sandbox/echo',
      input: 'one two',
      stream: true,
    });
    const events: ResponseStreamEvent[] = [];
    for await (const event of stream) events.push(event);
    expect(events.map(({ type }) => type)).toEqual([
      'response.created',
      'response.in_progress',
      'response.output_item.added',
      ...Array<string>(4).fill('response.output_text.delta'),
      'response.output_text.done',
      'response.output_item.done',
      'response.completed',
    ]);
    expect(events.map((event) => event.sequence_number)).toEqual(events.map((_, index) => index));
    const added = events[2];
    expect(added).toMatchObject({
      output_index: 0,
      item: { status: 'in_progress', content: [{ type: 'output_text', text: '' }] },
    });
    const completed = events.at(-1) as OpenAI.Responses.ResponseCompletedEvent;
    expect(completed.response).toMatchObject({ status: 'completed', store: true });
    expect(await client.responses.retrieve(completed.response.id)).toEqual(completed.response);
  });

  it('works with the streaming helper: deltas with snapshots, and the final response', async () => {
    const runner = client.responses.stream({ model: 'sandbox/words', input: '30 words' });
    let text = '';
    runner.on('response.output_text.delta', ({ delta, snapshot }) => {
      text += delta;
      expect(snapshot).toBe(text);
    });
    const final = await runner.finalResponse();
    expect(final.status).toBe('completed');
    expect(final.output_text).toBe(text);
    expect(text.split(' ')).toHaveLength(30);
    expect(final.usage).toMatchObject({ output_tokens: 30 });
  });

  it('gets a truncated answer as incomplete, streamed or not', async () => {
    const body = { model: 'sandbox/words', input: '30 words', max_output_tokens: 16 };
    const whole = await client.responses.create(body);
    const streamed = await client.responses.stream(body).finalResponse();
    for (const response of [whole, streamed]) {
      expect(response.status).toBe('incomplete');
      expect(response.incomplete_details).toEqual({ reason: 'max_output_tokens' });
      expect(response.output[0]).toMatchObject({ status: 'incomplete' });
    }
    expect(streamed.output_text).toBe(whole.output_text);
  });

  it('parses structured output, by text.format and by response_format', async () => {
    const schema = {
      type: 'object',
      properties: { name: { type: 'string' }, age: { type: 'integer' } },
      required: ['name', 'age'],
      additionalProperties: false,
    };
    const parsed = await client.responses.parse({
      model: 'sandbox/echo',
      input: 'Who?',
      text: { format: { type: 'json_schema', name: 'person', strict: true, schema } },
    });
    expect(parsed.output_parsed).toEqual({ name: expect.any(String), age: expect.any(Number) });

    const answer = await gateway.post('/v1/responses', {
      model: 'sandbox/echo',
      input: 'Who?',
      response_format: { type: 'json_schema', json_schema: { name: 'person', schema } },
    });
    const response = (await answer.json()) as OpenAI.Responses.Response;
    expect(response.output_text).toBe(parsed.output_text);
    expect(response.text).toEqual({ format: { type: 'json_schema', name: 'person', schema } });
  });

  it('supports a tool round trip, streamed and stored', async () => {
    const runner = client.responses.stream({
      model: 'sandbox/echo',
      input: 'Weather?',
      tools: [WEATHER],
    });
    let args = '';
    runner.on('response.function_call_arguments.delta', ({ delta }) => (args += delta));
    const first = await runner.finalResponse();
    const [call] = first.output;
    expect(call).toMatchObject({
      id: expect.stringMatching(/^fc_/),
      type: 'function_call',
      status: 'completed',
      name: 'weather',
      call_id: expect.stringMatching(/./),
      arguments: args,
    });
    expect(JSON.parse(args)).toHaveProperty('city');

    const second = await client.responses.create({
      model: 'sandbox/echo',
      previous_response_id: first.id,
      tools: [WEATHER],
      input: [
        {
          type: 'function_call_output',
          call_id: (call as OpenAI.Responses.ResponseFunctionToolCall).call_id,
          output: 'sunny',
        },
      ],
    });
    expect(second.output_text).toBe('Sandbox echo: sunny');
  });

  it('calls custom tools, which become functions for other vendors', async () => {
    const tools: OpenAI.Responses.Tool[] = [{ type: 'custom', name: 'shell' }];
    const body = { model: 'sandbox/echo', input: 'Run it.', tools };
    const whole = await client.responses.create(body);
    const streamed = await client.responses.stream(body).finalResponse();
    for (const response of [whole, streamed]) {
      expect(response.output).toMatchObject([
        { type: 'custom_tool_call', name: 'shell', input: expect.any(String) },
      ]);
    }
    const { call_id } = whole.output[0] as OpenAI.Responses.ResponseCustomToolCall;
    const next = await client.responses.create({
      ...body,
      previous_response_id: whole.id,
      input: [{ type: 'custom_tool_call_output', call_id, output: 'done' }],
    });
    expect(next.output_text).toBe('Sandbox echo: done');
  });

  it('retrieves, lists the input of, and deletes stored responses', async () => {
    const created = await client.responses.create({
      model: 'sandbox/echo',
      input: [
        { role: 'developer', content: 'Be brief.' },
        { role: 'user', content: [{ type: 'input_text', text: 'Hello' }] },
      ],
    });
    const options = { include: ['reasoning.encrypted_content' as const] };
    expect(await client.responses.retrieve(created.id, options)).toEqual(created);

    const newestFirst = await client.responses.inputItems.list(created.id, { limit: 1 });
    expect(newestFirst.data).toMatchObject([
      { id: expect.stringMatching(/^msg_/), role: 'user', content: [{ text: 'Hello' }] },
    ]);
    const all: unknown[] = [];
    const pages = client.responses.inputItems.list(created.id, { limit: 1, order: 'asc' });
    for await (const item of pages) all.push(item);
    expect(all).toMatchObject([
      { role: 'developer', content: [{ type: 'input_text', text: 'Be brief.' }] },
      { role: 'user' },
    ]);

    await client.responses.delete(created.id);
    for (const call of [
      () => client.responses.retrieve(created.id),
      () => client.responses.delete(created.id),
      () => client.responses.inputItems.list(created.id),
      () =>
        client.responses.create({
          model: 'sandbox/echo',
          input: 'More',
          previous_response_id: created.id,
        }),
    ]) {
      await expect(call()).rejects.toBeInstanceOf(OpenAI.NotFoundError);
    }
  });

  it('maps our errors to its own error classes', async () => {
    const call = (model: string, key = gateway.apiKey): Promise<unknown> =>
      new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: key, maxRetries: 0 }).responses.create({
        model,
        input: 'Hello',
      });
    await expect(call('echo')).rejects.toBeInstanceOf(OpenAI.BadRequestError);
    await expect(call('sandbox/echo', 'sk-unknown-key-0000')).rejects.toBeInstanceOf(
      OpenAI.AuthenticationError,
    );
    await expect(call('sandbox/echo', gateway.managementKey)).rejects.toBeInstanceOf(
      OpenAI.PermissionDeniedError,
    );
    await expect(call('sandbox/no-such-model')).rejects.toBeInstanceOf(OpenAI.NotFoundError);
    await expect(call('sandbox/fault-429')).rejects.toBeInstanceOf(OpenAI.RateLimitError);
    await expect(call('sandbox/fault-500')).rejects.toBeInstanceOf(OpenAI.InternalServerError);
  });

  it('gets an error in an interrupted stream, and finds the response as failed', async () => {
    const events: ResponseStreamEvent[] = [];
    const stream = await client.responses.create({
      model: 'sandbox/fault-cut',
      input: 'Hello',
      stream: true,
    });
    const readAll = async (): Promise<void> => {
      for await (const event of stream) events.push(event);
    };
    await expect(readAll()).rejects.toThrow('terminated');
    const last = events.at(-1) as OpenAI.Responses.ResponseFailedEvent;
    expect(last).toMatchObject({
      type: 'response.failed',
      sequence_number: events.length - 1,
      response: { status: 'failed', error: { code: 'server_error' } },
    });
    expect(events.some(({ type }) => type === 'response.completed')).toBe(false);
    expect(await client.responses.retrieve(last.response.id)).toMatchObject({
      status: 'failed',
      error: last.response.error,
      output: [{ type: 'message', status: 'incomplete' }],
    });
    const next = client.responses.create({
      model: 'sandbox/echo',
      input: 'And?',
      previous_response_id: last.response.id,
    });
    await expect(next).rejects.toMatchObject({ status: 400, param: 'previous_response_id' });
  });
});
