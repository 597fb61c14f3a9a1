import { describe, expect, it, jest } from '@jest/globals';
import { chatRequest } from '../../../../test/support/chat-requests.js';
import { converseTraits } from '../../../../test/support/converse-traits.js';
import type { PromptMedia } from '../fetch-prompt-media.js';
import type { ConverseTraits } from './converse-traits.js';
import { droppedByConverse, encodeConverseRequest } from './encode-converse-request.js';

const encode = (fields: Record<string, unknown> = {}, overrides: Partial<ConverseTraits> = {}) =>
  encodeConverseRequest(chatRequest(fields), {
    traits: converseTraits(overrides),
    fetchMedia: async () => new Map(),
    maxOutputTokens: 4_096,
  });

const tools = [{ type: 'function', function: { name: 'f', parameters: { type: 'object' } } }];
const schema = { type: 'object', properties: { a: { type: 'string' } } };
const response_format = { type: 'json_schema', json_schema: { name: 'x', schema } };

describe(encodeConverseRequest.name, () => {
  it('sends no more than it was given', async () => {
    expect(await encode()).toEqual({
      body: {
        messages: [{ role: 'user', content: [{ text: 'Hi' }] }],
        inferenceConfig: { maxTokens: 4_096 },
      },
      jsonTool: undefined,
    });
  });

  it('puts the pieces together', async () => {
    const { body } = await encode(
      {
        messages: [
          { role: 'system', content: 'Be brief.' },
          { role: 'user', content: 'Hi' },
        ],
        tools,
        parallel_tool_calls: false,
        response_format,
        reasoning_effort: 'low',
        user: 'someone',
      },
      { reasoning: { kind: 'adaptive', off: 'out', isHidden: false } },
    );
    expect(body).toEqual({
      messages: [{ role: 'user', content: [{ text: 'Hi' }] }],
      system: [{ text: 'Be brief.' }],
      inferenceConfig: { maxTokens: 4_096 },
      toolConfig: {
        tools: [{ toolSpec: { name: 'f', inputSchema: { json: { type: 'object' } } } }],
      },
      additionalModelRequestFields: {
        thinking: { type: 'adaptive' },
        tool_choice: { type: 'auto', disable_parallel_tool_use: true },
      },
      outputConfig: {
        textFormat: expect.objectContaining({ type: 'json_schema' }),
        effort: 'low',
      },
      requestMetadata: { end_user: 'someone' },
    });
  });

  it('adds its wish for JSON to the system prompt where nothing else holds', async () => {
    const { body } = await encode(
      { response_format: { type: 'json_object' } },
      { forcedTools: 'none' },
    );
    expect(body.system).toEqual([{ text: expect.stringContaining('JSON') }]);
  });

  it('asks which stop sequence it was, in the words of each operation', async () => {
    const traits = { namesStopSequence: true };
    const paths = async (stream: boolean) =>
      (await encode({ stream }, traits)).body.additionalModelResponseFieldPaths;
    expect(await paths(false)).toEqual(['/stop_sequence']);
    expect(await paths(true)).toEqual(['/delta/stop_sequence']);
  });

  it.each<[Record<string, unknown>, string]>([
    [{ n: 2 }, 'n'],
    [{ temperature: 1.5 }, 'temperature'],
    [{ tools, tool_choice: 'required' }, 'tool_choice'],
  ])('refuses %j before it fetches anything', async (fields, param) => {
    const fetchMedia = jest.fn<() => Promise<PromptMedia>>();
    const result = encodeConverseRequest(chatRequest(fields), {
      traits: converseTraits({ forcedTools: 'none' }),
      fetchMedia,
      maxOutputTokens: 100,
    });
    await expect(result).rejects.toMatchObject({ failure: 'unsupported', param });
    expect(fetchMedia).not.toHaveBeenCalled();
  });
});

describe(droppedByConverse.name, () => {
  const dropped = (fields: Record<string, unknown>, overrides: Partial<ConverseTraits> = {}) =>
    droppedByConverse(chatRequest(fields), converseTraits(overrides)).sort();

  it('names nothing of a request that is taken whole', () => {
    expect(
      dropped({
        temperature: 1,
        top_k: 3,
        stop: 'END',
        tools,
        tool_choice: 'auto',
        parallel_tool_calls: false,
        response_format,
        user: 'someone',
      }),
    ).toEqual([]);
  });

  it('names what the API has no place for', () => {
    expect(
      dropped({
        seed: 1,
        frequency_penalty: 1,
        presence_penalty: 1,
        logit_bias: { 1: 1 },
        logprobs: true,
        top_logprobs: 2,
        verbosity: 'low',
      }),
    ).toEqual([
      'frequency_penalty',
      'logit_bias',
      'logprobs',
      'presence_penalty',
      'seed',
      'top_logprobs',
      'verbosity',
    ]);
  });

  it('names what this model has no place for', () => {
    const fields = {
      temperature: 1,
      reasoning_effort: 'low',
      parallel_tool_calls: false,
      tools: [{ ...tools[0], function: { ...tools[0]!.function, strict: true } }],
    };
    expect(
      dropped(fields, {
        samplers: 'none',
        reasoning: { kind: 'none' },
        singleToolCalls: false,
        strictTools: false,
      }),
    ).toEqual(['parallel_tool_calls', 'reasoning', 'temperature', 'tools.strict']);
    expect(dropped({ parallel_tool_calls: false }, { singleToolCalls: false })).toEqual([]);
  });

  it('names members of messages that are lost', () => {
    const image_url = { url: 'data:image/png;base64,AAAA', detail: 'low' };
    const content = [{ type: 'image_url', image_url }];
    expect(dropped({ messages: [{ role: 'user', name: 'Ann', content }] })).toEqual([
      'image_url.detail',
      'messages.name',
    ]);
  });

  it('names cache marks that are lost', () => {
    const mark = { cache_control: { type: 'ephemeral', ttl: '1h' } };
    const messages = [{ role: 'user', content: [{ type: 'text', text: 'Hi', ...mark }] }];
    const marked = { messages, tools: [{ ...tools[0], ...mark }] };
    expect(dropped(marked)).toEqual([]);
    expect(dropped(marked, { longCache: false })).toEqual(['cache_control.ttl']);
    expect(dropped(marked, { cachePoints: 'not-in-tools' })).toEqual(['cache_control']);
    expect(dropped({ messages }, { cachePoints: 'not-in-tools' })).toEqual([]);
    expect(dropped({ messages }, { cachePoints: 'none' })).toEqual(['cache_control']);
  });

  it("goes by the caller's limit where one leaves no room for reasoning", () => {
    expect(dropped({ reasoning_effort: 'low', max_tokens: 1_000 })).toEqual(['reasoning']);
    expect(dropped({ reasoning_effort: 'low' })).toEqual([]);
  });
});
