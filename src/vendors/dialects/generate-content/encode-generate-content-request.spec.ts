import { describe, expect, it } from '@jest/globals';
import { chatRequest } from '../../../../test/support/chat-requests.js';
import { modelTraits, olderModelTraits } from '../../../../test/support/model-traits.js';
import { droppedFields } from './dropped-fields.js';
import { encodeGenerateContentRequest } from './encode-generate-content-request.js';
import type { ModelTraits } from './model-traits.js';

const encode = (fields: Record<string, unknown>, traits: ModelTraits = modelTraits()): unknown =>
  JSON.parse(String(encodeGenerateContentRequest(chatRequest(fields), traits)));
const configOf = (fields: Record<string, unknown>, traits?: ModelTraits): unknown =>
  (encode(fields, traits) as { generationConfig: unknown }).generationConfig;

const schema = { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] };
const tool = (overrides: object = {}): object => ({
  type: 'function',
  function: { name: 'f', description: 'does it', parameters: schema, ...overrides },
});
const jsonSchema = (inner: object = schema): object => ({
  type: 'json_schema',
  json_schema: { name: 'x', strict: true, schema: inner },
});

describe(encodeGenerateContentRequest.name, () => {
  it("sends the gateway's own limit when the caller set none", () => {
    const encodeWith = (fields: Record<string, unknown>): unknown =>
      JSON.parse(String(encodeGenerateContentRequest(chatRequest(fields), modelTraits(), 4_096)));
    expect(encodeWith({})).toMatchObject({ generationConfig: { maxOutputTokens: 4_096 } });
    expect(encodeWith({ max_tokens: 7 })).toMatchObject({
      generationConfig: { maxOutputTokens: 7 },
    });
  });

  it('sends only what was requested', () => {
    expect(encode({})).toEqual({
      contents: [{ role: 'user', parts: [{ text: 'Hi' }] }],
      generationConfig: {},
    });
  });

  it('encodes every control', () => {
    expect(
      configOf({
        temperature: 0,
        top_p: 0.5,
        top_k: 40,
        max_tokens: 100,
        n: 2,
        stop: ['a', 'b', 'c', 'd', 'e'],
        seed: 7,
        presence_penalty: 0.5,
        frequency_penalty: -0.5,
        logprobs: true,
        top_logprobs: 3,
        reasoning_effort: 'low',
        response_format: jsonSchema(),
      }),
    ).toEqual({
      temperature: 0,
      topP: 0.5,
      topK: 40,
      maxOutputTokens: 100,
      candidateCount: 2,
      stopSequences: ['a', 'b', 'c', 'd', 'e'],
      seed: 7,
      presencePenalty: 0.5,
      frequencyPenalty: -0.5,
      responseLogprobs: true,
      logprobs: 3,
      responseMimeType: 'application/json',
      responseJsonSchema: schema,
      thinkingConfig: { includeThoughts: true, thinkingLevel: 'LOW' },
    });
  });

  it.each([
    [{ stop: 'end' }, { stopSequences: ['end'] }],
    [{ seed: 2 ** 31 + 5 }, { seed: 5 }],
    [{ seed: -(2 ** 31) - 5 }, { seed: -5 }],
    [{ logprobs: true }, { responseLogprobs: true }],
    [{ logprobs: false }, {}],
    [{ response_format: { type: 'text' } }, {}],
    [{ response_format: { type: 'json_object' } }, { responseMimeType: 'application/json' }],
    [{ presence_penalty: 0, frequency_penalty: 0 }, {}],
  ])('encodes %j as %j', (fields, expected) => {
    expect(configOf(fields, modelTraits({ takesPenalties: false }))).toEqual(expected);
  });

  it.each<[Record<string, unknown>, Partial<ModelTraits>, string]>([
    [{ n: 9 }, {}, 'n'],
    [{ n: 2 }, { maxCandidates: 1 }, 'n'],
    [{ stop: ['1', '2', '3', '4', '5', '6'] }, {}, 'stop'],
    [{ presence_penalty: 1 }, { takesPenalties: false }, 'presence_penalty'],
    [{ frequency_penalty: -1 }, { takesPenalties: false }, 'frequency_penalty'],
    [
      { response_format: { type: 'json_object' }, tools: [tool()] },
      { formatsBesideTools: false },
      'response_format',
    ],
  ])('reports %j, with %j, as unsupported and names %s', (fields, traits, param) => {
    expect(() => encode(fields, modelTraits(traits))).toThrow(
      expect.objectContaining({ failure: 'unsupported', param }),
    );
  });

  describe('tools', () => {
    it('are declared with the part of their schema that the vendor supports', () => {
      const parameters = { $schema: 'x', ...schema };
      expect(
        encode({ tools: [tool({ parameters }), tool({ name: 'g', parameters: null })] }),
      ).toEqual(
        expect.objectContaining({
          tools: [
            {
              functionDeclarations: [
                { name: 'f', description: 'does it', parametersJsonSchema: schema },
                { name: 'g', description: 'does it' },
              ],
            },
          ],
        }),
      );
    });

    it.each<[unknown, boolean, object | undefined]>([
      [undefined, false, undefined],
      [undefined, true, { mode: 'VALIDATED' }],
      ['auto', false, { mode: 'AUTO' }],
      ['auto', true, { mode: 'VALIDATED' }],
      ['none', true, { mode: 'NONE' }],
      ['required', true, { mode: 'ANY' }],
      [
        { type: 'function', function: { name: 'f' } },
        false,
        { mode: 'ANY', allowedFunctionNames: ['f'] },
      ],
    ])('with choice %j and strict %j', (choice, strict, config) => {
      const body = encode({ tools: [tool({ strict })], tool_choice: choice });
      expect((body as { toolConfig?: object }).toolConfig).toEqual(
        config && { functionCallingConfig: config },
      );
    });

    it('have no choice without tools', () => {
      expect(encode({ tools: [], tool_choice: 'none' })).not.toHaveProperty('toolConfig');
      expect(encode({ tools: [] })).not.toHaveProperty('tools');
    });

    it('omit a format when a call is required, because such an answer has no text', () => {
      const fields = { tools: [tool()], tool_choice: 'required', response_format: jsonSchema() };
      for (const traits of [modelTraits(), olderModelTraits()]) {
        expect(configOf(fields, traits)).toEqual({});
        expect(encode(fields, traits)).toHaveProperty('tools');
        expect(droppedFields(chatRequest(fields), traits)).toEqual(['response_format']);
      }
    });

    it('are omitted when they may not be called and would conflict with a format', () => {
      const fields = { tools: [tool()], tool_choice: 'none', response_format: jsonSchema() };
      expect(encode(fields, olderModelTraits())).not.toHaveProperty('tools');
      expect(encode(fields, modelTraits())).toHaveProperty('tools');
      expect(configOf(fields, olderModelTraits())).toHaveProperty('responseJsonSchema');
    });
  });
});

describe(droppedFields.name, () => {
  const dropped = (fields: Record<string, unknown>, traits = modelTraits()): string[] =>
    droppedFields(chatRequest(fields), traits);

  it('lists nothing for supported fields', () => {
    expect(
      dropped({
        temperature: 1,
        top_p: 1,
        max_tokens: 5,
        n: 1,
        stop: 'x',
        seed: 1,
        logprobs: true,
        top_logprobs: 1,
        tools: [tool()],
        tool_choice: 'auto',
        parallel_tool_calls: true,
        response_format: jsonSchema(),
        reasoning_effort: 'high',
        presence_penalty: 1,
        frequency_penalty: 1,
        stream: true,
        stream_options: { include_usage: true },
      }),
    ).toEqual([]);
  });

  it('lists unsupported fields, including members of messages', () => {
    const content = [
      { type: 'text', text: 'Hi', cache_control: { type: 'ephemeral' } },
      { type: 'image_url', image_url: { url: 'data:image/png;base64,QUJD', detail: 'low' } },
      { type: 'file', file: { file_data: 'QUJD', filename: 'a.pdf' } },
    ];
    expect(
      dropped({
        messages: [{ role: 'user', name: 'Ann', content }],
        logit_bias: { 5: 1 },
        user: 'u',
        parallel_tool_calls: false,
        metadata: { a: 'b' },
        verbosity: 'low',
      }).sort(),
    ).toEqual(
      [
        'logit_bias',
        'user',
        'parallel_tool_calls',
        'metadata',
        'verbosity',
        'messages.name',
        'cache_control',
        'image_url.detail',
        'file.filename',
      ].sort(),
    );
  });

  it('lists sampling controls that a model would ignore, which are not sent', () => {
    const fields = { temperature: 0.5, top_p: 0.5, top_k: 5, seed: 1 };
    const traits = modelTraits({ takesSampling: false });
    expect(dropped(fields, traits)).toEqual(['temperature', 'top_p', 'top_k']);
    expect(configOf(fields, traits)).toEqual({ seed: 1 });
  });

  it('lists fields that a model can honor only in part', () => {
    const loose = { ...schema, properties: { a: { type: 'string', pattern: '^x' } } };
    expect(
      dropped({
        reasoning_effort: 'none',
        response_format: jsonSchema(loose),
        tools: [tool({ parameters: loose })],
      }),
    ).toEqual(['reasoning', 'response_format', 'tools.parameters']);
  });
});
