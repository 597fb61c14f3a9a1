import { describe, expect, it } from '@jest/globals';
import {
  ANSWER_ID,
  conversationOf,
  responsesRequest,
} from '../../../test/support/responses-requests.js';
import { parseResponses } from './responses.parse.js';

const user = (content: unknown): object => ({ role: 'user', content });

/** Returns the error for a body with these fields. */
function refusalOf(fields: object): unknown {
  try {
    responsesRequest(fields);
    return undefined;
  } catch (error) {
    return error;
  }
}

const NO_MEDIA = { images: 0, pages: 0, audioSeconds: 0 };

describe(parseResponses.name, () => {
  it('parses a minimal body', () => {
    const { prompt, body, ...request } = responsesRequest();
    expect(request).toEqual({
      dialect: 'responses',
      models: ['a/b'],
      routing: {
        order: [],
        only: undefined,
        ignore: [],
        allowFallbacks: true,
        strategy: 'fallback',
      },
      stream: false,
      choices: 1,
      maxOutputTokens: undefined,
      promptSize: { ...NO_MEDIA, tokens: 9, characters: 2 },
      accountBoundParam: undefined,
      answerId: ANSWER_ID,
    });
    expect(body.bytes.toString()).toBe('{"model":"a/b","input":"Hi"}');
    expect(prompt()).toBe(prompt());
  });

  it('prefers the newer end-user field', () => {
    expect(responsesRequest({ user: 'ann' }).endUser).toBe('ann');
    expect(responsesRequest({ user: 'ann', safety_identifier: 'bob' }).endUser).toBe('bob');
  });

  it('reads the model chain, routing preferences and output limit', () => {
    expect(
      responsesRequest({
        models: ['c/d', 'a/b'],
        max_output_tokens: 7,
        stream: true,
        provider: { order: ['x'], only: ['y'], ignore: ['z'], allow_fallbacks: false },
        route: 'sort',
      }),
    ).toMatchObject({
      models: ['a/b', 'c/d'],
      maxOutputTokens: 7,
      stream: true,
      routing: {
        order: ['x'],
        only: ['y'],
        ignore: ['z'],
        allowFallbacks: false,
        strategy: 'sort',
      },
    });
  });

  it('measures everything that the model reads, without base64', () => {
    const size = (fields: object) => responsesRequest(fields).promptSize;
    const plain = size({ input: [user('abc')] });
    expect(plain).toEqual({ ...NO_MEDIA, tokens: 9, characters: 3 });
    expect(size({ input: 'abc' })).toEqual(plain);
    expect(size({ input: [user([{ type: 'input_text', text: 'abc' }])] })).toEqual(plain);
    const image = { type: 'input_image', image_url: `data:image/png;base64,${'A'.repeat(9999)}` };
    expect(size({ input: [user([image])] })).toEqual({
      ...NO_MEDIA,
      tokens: 8,
      characters: 0,
      images: 1,
    });
    const file = { type: 'input_file', file_data: 'A'.repeat(9_999) };
    expect(size({ input: [user([file])] })).toMatchObject({ tokens: 8, pages: 3 });
    expect(size({ instructions: 'x'.repeat(28) }).characters).toBe(2 + 30);
    expect(size({ tools: [{ type: 'function', name: 'f' }] }).characters).toBeGreaterThan(30);
    const call = { type: 'function_call', call_id: 'ab', name: 'cd', arguments: 'ef' };
    const output = { type: 'function_call_output', call_id: 'ab', output: 'gh' };
    expect(size({ input: [call, output] })).toEqual({ ...NO_MEDIA, tokens: 20, characters: 10 });
  });

  it('prepends the conversation to the input for measuring, prompt and body', () => {
    const said = { type: 'message', role: 'assistant', content: 'Yes?' };
    const history = conversationOf({ type: 'message', role: 'user', content: 'Hey' }, said);
    const request = responsesRequest({ previous_response_id: 'resp_1' }, history);
    expect(request.promptSize.characters).toBe(2 + 3 + 4);
    expect(request.prompt().messages.map(({ role }) => role)).toEqual([
      'user',
      'assistant',
      'user',
    ]);
    const input = [...history.items, { type: 'message', role: 'user', content: 'Hi' }];
    expect(request.body.value.input).toEqual(input);
    expect(JSON.parse(request.body.bytes.toString())).toEqual({
      model: 'a/b',
      input,
      previous_response_id: 'resp_1',
    });
    expect(request.body.members.map(({ key }) => key)).toEqual([
      'model',
      'input',
      'previous_response_id',
    ]);
  });

  it("converts response_format and reasoning.verbosity to the dialect's fields", () => {
    const schema = { type: 'object' };
    const { body } = responsesRequest({
      text: { verbosity: 'low' },
      reasoning: { effort: 'high', verbosity: 'high' },
      response_format: {
        type: 'json_schema',
        json_schema: { name: 'person', schema, strict: true },
      },
    });
    expect(JSON.parse(body.bytes.toString())).toEqual({
      model: 'a/b',
      input: 'Hi',
      text: {
        verbosity: 'low',
        format: { type: 'json_schema', name: 'person', schema, strict: true },
      },
      reasoning: { effort: 'high' },
    });
    expect(responsesRequest({ reasoning: { verbosity: 'high' } }).body.value).toMatchObject({
      text: { verbosity: 'high' },
      reasoning: {},
    });
  });

  it.each<[object, string]>([
    [{ prompt: { id: 'pmpt_1' } }, 'prompt'],
    [{ service_tier: 'flex' }, 'service_tier'],
    [{ tools: [{ type: 'custom', name: 'f' }, { type: 'mcp' }] }, 'tools.1.type'],
    [{ tool_choice: { type: 'file_search' } }, 'tool_choice.type'],
    [{ input: [user([{ type: 'input_image', file_id: 'x' }])] }, 'input.0.content.0.file_id'],
    [
      {
        input: [
          {
            type: 'function_call_output',
            call_id: 'c',
            output: [{ type: 'input_file', file_id: 'x' }],
          },
        ],
      },
      'input.0.output.0.file_id',
    ],
  ])('reports references to a vendor account: %j', (fields, param) => {
    expect(responsesRequest(fields).accountBoundParam).toMatchObject({ param });
  });

  it.each<object>([
    { background: false, service_tier: 'auto' },
    { tool_choice: { type: 'allowed_tools', mode: 'auto', tools: [] } },
    { tools: [{ type: 'function', name: 'f' }], tool_choice: { type: 'function', name: 'f' } },
  ])('reports no reference to a vendor account in %j', (fields) => {
    expect(responsesRequest(fields).accountBoundParam).toBeUndefined();
  });

  it('rejects invalid parts and names the field', () => {
    expect(refusalOf({ input: [user('x'), user([{ type: 'refusal' }])] })).toMatchObject({
      status: 400,
      param: 'input.1.content.0.refusal',
      message: '`input.1.content.0.refusal` must be a string.',
    });
    expect(refusalOf({ tools: [{ type: 'custom' }] })).toMatchObject({ param: 'tools.0.name' });
    for (const [input_audio, field] of [
      [undefined, 'data'],
      [{ format: 'wav' }, 'data'],
      [{ data: 'AAAA' }, 'format'],
      [{ data: 'AAAA', format: 1 }, 'format'],
    ] as const) {
      expect(refusalOf({ input: [user([{ type: 'input_audio', input_audio }])] })).toMatchObject({
        param: `input.0.content.0.input_audio.${field}`,
      });
    }
  });
});
