import { describe, expect, it } from '@jest/globals';
import {
  canonicalRequest,
  type PromptOverrides,
} from '../../../../test/support/canonical-requests.js';
import type { CanonicalRequest } from '../../../canonical/canonical-request.js';
import { encodeChatPrompt, fieldsChatLacks } from './encode-chat-request.js';

function encode(
  prompt: PromptOverrides = {},
  overrides: Partial<CanonicalRequest> = {},
): Record<string, unknown> {
  const bytes = encodeChatPrompt(
    { request: canonicalRequest(prompt, overrides), upstreamModel: 'gpt-x' },
    'max_completion_tokens',
  );
  return JSON.parse(bytes.toString()) as Record<string, unknown>;
}

const tools = [
  { name: 'f', description: 'd', parameters: { type: 'object' }, strict: true },
  { name: 'g' },
];

describe(encodeChatPrompt.name, () => {
  it('sends only what was requested', () => {
    expect(encode()).toEqual({ model: 'gpt-x', messages: [{ role: 'user', content: 'Hi' }] });
  });

  it('requests the usage of a stream', () => {
    expect(encode({}, { stream: true })).toMatchObject({
      stream: true,
      stream_options: { include_usage: true },
    });
  });

  it('encodes every control', () => {
    const sampling = {
      temperature: 0,
      topP: 0.5,
      topK: 3,
      frequencyPenalty: -1,
      presencePenalty: 1,
      seed: 7,
      stop: ['a', 'b', 'c', 'd', 'e'],
      logitBias: { '50256': -100 },
      logprobs: true,
      topLogprobs: 2,
    };
    expect(
      encode(
        {
          sampling,
          endUser: 'ann',
          reasoning: { effort: 'minimal' },
          tools,
          toolChoice: { name: 'f' },
          parallelToolCalls: false,
          responseFormat: { type: 'json_schema', name: 's', schema: { type: 'object' } },
        },
        { choices: 2, maxOutputTokens: 99 },
      ),
    ).toEqual({
      model: 'gpt-x',
      messages: [{ role: 'user', content: 'Hi' }],
      n: 2,
      max_completion_tokens: 99,
      temperature: 0,
      top_p: 0.5,
      frequency_penalty: -1,
      presence_penalty: 1,
      seed: 7,
      stop: ['a', 'b', 'c', 'd', 'e'],
      logit_bias: { '50256': -100 },
      logprobs: true,
      top_logprobs: 2,
      user: 'ann',
      reasoning_effort: 'minimal',
      tools: [
        {
          type: 'function',
          function: { name: 'f', description: 'd', parameters: { type: 'object' }, strict: true },
        },
        { type: 'function', function: { name: 'g' } },
      ],
      tool_choice: { type: 'function', function: { name: 'f' } },
      parallel_tool_calls: false,
      response_format: {
        type: 'json_schema',
        json_schema: { name: 's', schema: { type: 'object' } },
      },
    });
  });

  it("uses the server's name for the output limit", () => {
    const request = canonicalRequest({}, { maxOutputTokens: 5 });
    const bytes = encodeChatPrompt({ request, upstreamModel: 'm' }, 'max_tokens');
    expect(JSON.parse(bytes.toString())).toMatchObject({ max_tokens: 5 });
    expect(bytes.toString()).not.toContain('max_completion_tokens');
  });

  it("sends the gateway's own limit", () => {
    const call = { request: canonicalRequest(), upstreamModel: 'm', ownOutputLimit: 4_096 };
    expect(JSON.parse(encodeChatPrompt(call, 'max_completion_tokens').toString())).toMatchObject({
      max_completion_tokens: 4_096,
    });
  });

  it.each(['auto', 'none', 'required'] as const)('passes the tool choice %s on', (toolChoice) => {
    expect(encode({ tools, toolChoice })).toMatchObject({ tool_choice: toolChoice });
  });

  it('omits fields that servers reject without tools or stop sequences', () => {
    const body = encode({
      toolChoice: 'auto',
      parallelToolCalls: true,
      sampling: { stop: [] },
    });
    expect(Object.keys(body)).toEqual(['model', 'messages']);
  });

  it('leaves it to the vendor to reject a required call without tools', () => {
    expect(encode({ toolChoice: 'required' })).toMatchObject({ tool_choice: 'required' });
  });

  it.each([{ type: 'text' }, { type: 'json_object' }] as const)(
    'passes on the format %j',
    (responseFormat) => {
      expect(encode({ responseFormat })).toMatchObject({ response_format: responseFormat });
    },
  );

  it("uses the caller's name for the conversation", () => {
    const source = { kind: 'url', url: 'https://a.b/c.pdf' } as const;
    const messages = [{ role: 'user', parts: [{ type: 'document', source }] }] as const;
    expect(() => encode({ messages }, { dialect: 'responses' })).toThrow(
      expect.objectContaining({ failure: 'unsupported', param: 'input' }),
    );
    expect(() => encode({ messages })).toThrow(
      expect.objectContaining({ failure: 'unsupported', param: 'messages' }),
    );
  });
});

describe(fieldsChatLacks.name, () => {
  const lacks = (prompt: PromptOverrides, overrides?: Partial<CanonicalRequest>): string[] =>
    fieldsChatLacks(canonicalRequest(prompt, overrides));

  it('returns nothing when everything is supported', () => {
    const sampling = { temperature: 1, topP: 1, stop: ['x'], seed: 1, logprobs: true };
    expect(lacks({ sampling, reasoning: { maxTokens: 5 }, endUser: 'x', tools })).toEqual([]);
  });

  it("names unsupported fields in the caller's dialect", () => {
    const prompt = {
      sampling: { topK: 3 },
      reasoning: { enabled: false },
      droppedFields: ['container'],
    };
    expect(lacks(prompt)).toEqual(['top_k', 'container', 'thinking']);
    expect(lacks(prompt, { dialect: 'responses' })).toEqual(['top_k', 'container', 'reasoning']);
  });

  it.each<[string, PromptOverrides]>([
    ['a part', { messages: [{ role: 'user', parts: [marked({ type: 'text', text: 'x' })] }] }],
    ['a tool', { tools: [marked({ name: 'f' })] }],
  ])('lists the cache mark of %s', (_name, prompt) => {
    expect(lacks(prompt)).toEqual(['cache_control']);
  });
});

function marked<Value>(value: Value): Value & { cacheControl: { ttl: '5m' } } {
  return { ...value, cacheControl: { ttl: '5m' } };
}
