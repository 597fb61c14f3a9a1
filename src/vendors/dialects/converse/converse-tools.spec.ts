import { describe, expect, it } from '@jest/globals';
import { chatRequest } from '../../../../test/support/chat-requests.js';
import { converseTraits } from '../../../../test/support/converse-traits.js';
import type { ConverseReasoning } from './converse-reasoning.js';
import { converseTools, converseToolId } from './converse-tools.js';
import type { ConverseTraits } from './converse-traits.js';

const tool = (name: string, rest: object = {}) => ({
  type: 'function',
  function: { name, parameters: { type: 'object', properties: {} }, ...rest },
});
const spec = (name: string) => ({
  toolSpec: { name, inputSchema: { json: { type: 'object', properties: {} } } },
});
const tools = [tool('one'), tool('two')];
const specs = [spec('one'), spec('two')];
const named = { type: 'function', function: { name: 'two' } };

const encode = (
  fields: Record<string, unknown>,
  overrides: Partial<ConverseTraits> = {},
  isThinking = false,
) => {
  const reasoning: ConverseReasoning = { isThinking, fields: {}, lost: new Set() };
  return converseTools(chatRequest(fields), converseTraits(overrides), reasoning);
};
const refusal = (...given: Parameters<typeof encode>): unknown => {
  try {
    encode(...given);
  } catch (error) {
    return error;
  }
  throw new Error('was not rejected');
};

describe(converseTools.name, () => {
  it.each<[string, unknown, object | undefined]>([
    ['nothing', undefined, undefined],
    ['auto', 'auto', undefined],
    ['required', 'required', { any: {} }],
    ['a named tool', named, { tool: { name: 'two' } }],
  ])('encodes the choice %s', (_what, tool_choice, toolChoice) => {
    expect(encode({ tools, tool_choice })).toEqual({
      toolConfig: { tools: specs, ...(toolChoice && { toolChoice }) },
    });
  });

  it('omits tools when none may be called, because the API has no other way to say so', () => {
    expect(encode({ tools, tool_choice: 'none' })).toEqual({});
    expect(encode({})).toEqual({});
    expect(encode({ tools: [], tool_choice: 'required' })).toEqual({});
  });

  it("encodes tools in the API's format", () => {
    const cache_control = { type: 'ephemeral', ttl: '1h' };
    const given = [
      { ...tool('a', { description: 'Does a.', strict: true }), cache_control },
      tool('b', { description: '  ', strict: false, parameters: undefined }),
      tool('c', { parameters: { properties: { x: { type: 'string' } }, required: ['x'] } }),
    ];
    expect(encode({ tools: given }).toolConfig).toEqual({
      tools: [
        {
          toolSpec: {
            name: 'a',
            description: 'Does a.',
            inputSchema: { json: { type: 'object', properties: {} } },
            strict: true,
          },
        },
        { cachePoint: { type: 'default', ttl: '1h' } },
        { toolSpec: { name: 'b', inputSchema: { json: { type: 'object' } } } },
        {
          toolSpec: {
            name: 'c',
            inputSchema: {
              json: { type: 'object', properties: { x: { type: 'string' } }, required: ['x'] },
            },
          },
        },
      ],
    });
    const bare = encode(
      { tools: given.slice(0, 1) },
      { strictTools: false, cachePoints: 'not-in-tools' },
    );
    expect(bare.toolConfig).toEqual({
      tools: [
        {
          toolSpec: {
            name: 'a',
            description: 'Does a.',
            inputSchema: { json: { type: 'object', properties: {} } },
          },
        },
      ],
    });
  });

  it.each<[string, unknown, object]>([
    ['auto', 'auto', { type: 'auto' }],
    ['required', 'required', { type: 'any' }],
    ['a named tool', named, { type: 'tool', name: 'two' }],
  ])("limits to one call with the model's own field, choice %s", (_what, tool_choice, field) => {
    const fields = { tools, tool_choice, parallel_tool_calls: false };
    // Together with the API's own field, it would be rejected as a conflict.
    expect(encode(fields)).toEqual({
      toolConfig: { tools: specs },
      toolChoiceField: { ...field, disable_parallel_tool_use: true },
    });
    expect(encode(fields, { singleToolCalls: false }).toolChoiceField).toBeUndefined();
  });

  it.each<[string, unknown, Partial<ConverseTraits>, boolean]>([
    ['a call', 'required', { forcedTools: 'none' }, false],
    ['a named call', named, { forcedTools: 'any' }, false],
    ['a call while it thinks', 'required', {}, true],
  ])('refuses to force %s', (_what, tool_choice, traits, isThinking) => {
    expect(refusal({ tools, tool_choice }, traits, isThinking)).toMatchObject({
      failure: 'unsupported',
      param: 'tool_choice',
    });
  });

  describe('for JSON answers', () => {
    const schema = { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] };
    const closed = { ...schema, additionalProperties: false };
    const open = { ...schema, additionalProperties: true };
    const jsonSchema = (value: object) => ({
      response_format: { type: 'json_schema', json_schema: { name: 'answer', schema: value } },
    });
    const jsonObject = { response_format: { type: 'json_object' } };
    const jsonTool = (json: object, name = 'answer_in_json') => ({
      toolSpec: {
        name,
        description: expect.stringContaining('answer'),
        inputSchema: { json },
      },
    });
    const textFormat = {
      type: 'json_schema',
      structure: { jsonSchema: { name: 'answer', schema: JSON.stringify(closed) } },
    };

    it('enforces the schema if the model supports it', () => {
      expect(encode(jsonSchema(schema))).toEqual({ textFormat });
      expect(encode({ ...jsonSchema(schema), tools })).toEqual({
        textFormat,
        toolConfig: { tools: specs },
      });
      expect(encode(jsonSchema(schema), {}, true)).toEqual({ textFormat });
    });

    it('forces a tool whose input is the answer otherwise', () => {
      const forced = { tool: { name: 'answer_in_json' } };
      const made = { jsonTool: 'answer_in_json' };
      const of = (json: object) => ({
        ...made,
        toolConfig: { tools: [jsonTool(json)], toolChoice: forced },
      });
      expect(encode(jsonSchema(schema), { nativeSchemas: false })).toEqual(of(schema));
      expect(encode(jsonSchema(open))).toEqual(of(open));
      expect(encode(jsonObject)).toEqual(of({ type: 'object' }));
      expect(encode(jsonObject, { forcedTools: 'any' }).toolConfig).toMatchObject({
        toolChoice: { any: {} },
      });
    });

    it("lets the model choose between that tool and the caller's", () => {
      const taken = tool('answer_in_json');
      expect(encode({ ...jsonObject, tools: [taken] })).toEqual({
        toolConfig: {
          tools: [spec('answer_in_json'), jsonTool({ type: 'object' }, 'answer_in_json_')],
          toolChoice: { any: {} },
        },
        jsonTool: 'answer_in_json_',
      });
    });

    it('does not request JSON when a call is forced', () => {
      for (const tool_choice of ['required', named]) {
        const made = encode({ ...jsonSchema(schema), tools, tool_choice });
        expect([made.textFormat, made.jsonTool]).toEqual([undefined, undefined]);
      }
    });

    it('requests a JSON object in the prompt when no tool can be forced', () => {
      for (const made of [
        encode(jsonObject, { forcedTools: 'none' }),
        encode(jsonObject, {}, true),
      ]) {
        expect(made).toEqual({ jsonInstruction: expect.stringContaining('JSON') });
      }
    });

    it.each<[object, Partial<ConverseTraits>, boolean]>([
      [schema, { nativeSchemas: false, forcedTools: 'none' }, false],
      [schema, { nativeSchemas: false }, true],
      [open, { forcedTools: 'none' }, false],
      [{ anyOf: [open] }, {}, false],
    ])('rejects %j when it cannot be enforced', (value, traits, isThinking) => {
      expect(refusal(jsonSchema(value), traits, isThinking)).toMatchObject({
        failure: 'unsupported',
        param: 'response_format',
      });
    });

    it('adds nothing for plain text', () => {
      expect(encode({ response_format: { type: 'text' } })).toEqual({});
    });
  });
});

describe(converseToolId.name, () => {
  it("keeps ids of the API's alphabet and replaces others", () => {
    expect(converseToolId('call_1-a', { toolIds: 'any' })).toBe('call_1-a');
    expect(converseToolId('a'.repeat(65), { toolIds: 'any' })).toMatch(/^call_[\w-]{32}$/);
    expect(converseToolId('a.b', { toolIds: 'any' })).toMatch(/^call_[\w-]{32}$/);
  });

  it('creates stable nine-character ids', () => {
    const map = (id: string): string => converseToolId(id, { toolIds: 'nine-characters' });
    expect(map('aB3456789')).toBe('aB3456789');
    const ids = ['call_1', 'call_2', 'tooluse_AcX1', 'tooluse_AcX2', ''];
    const mapped = ids.map(map);
    expect(new Set(mapped).size).toBe(ids.length);
    expect(mapped).toEqual(ids.map(map));
    for (const id of mapped) expect(id).toMatch(/^[A-Za-z0-9]{9}$/);
  });
});
