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
  it('sends only what it was given', async () => {
    expect(await encode()).toEqual({
      body: {
        messages: [{ role: 'user', content: [{ text: 'Hi' }] }],
        inferenceConfig: { maxTokens: 4_096 },
      },
      jsonTool: undefined,
    });
  });

  it('combines all parts', async () => {
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

  it('requests JSON in the system prompt when nothing else can enforce it', async () => {
    const { body } = await encode(
      { response_format: { type: 'json_object' } },
      { forcedTools: 'none' },
    );
    expect(body.system).toEqual([{ text: expect.stringContaining('JSON') }]);
  });

  it("asks for the stop sequence in each operation's own way", async () => {
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
  ])('rejects %j before fetching anything', async (fields, param) => {
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

  it('lists nothing for a fully supported request', () => {
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

  it('lists fields that the API does not support', () => {
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

  it('lists fields that this model does not support', () => {
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

  it('lists dropped members of messages', () => {
    const image_url = { url: 'data:image/png;base64,AAAA', detail: 'low' };
    const content = [{ type: 'image_url', image_url }];
    expect(dropped({ messages: [{ role: 'user', name: 'Ann', content }] })).toEqual([
      'image_url.detail',
      'messages.name',
    ]);
  });

  it('lists dropped cache marks', () => {
    const mark = { cache_control: { type: 'ephemeral', ttl: '1h' } };
    const messages = [{ role: 'user', content: [{ type: 'text', text: 'Hi', ...mark }] }];
    const marked = { messages, tools: [{ ...tools[0], ...mark }] };
    expect(dropped(marked)).toEqual([]);
    expect(dropped(marked, { longCache: false })).toEqual(['cache_control.ttl']);
    expect(dropped(marked, { cachePoints: 'not-in-tools' })).toEqual(['cache_control']);
    expect(dropped({ messages }, { cachePoints: 'not-in-tools' })).toEqual([]);
    expect(dropped({ messages }, { cachePoints: 'none' })).toEqual(['cache_control']);
  });

  it("considers the caller's limit when it leaves no room for reasoning", () => {
    expect(dropped({ reasoning_effort: 'low', max_tokens: 1_000 })).toEqual(['reasoning']);
    expect(dropped({ reasoning_effort: 'low' })).toEqual([]);
  });
});
