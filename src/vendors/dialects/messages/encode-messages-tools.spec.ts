import { describe, expect, it } from '@jest/globals';
import { says } from '../../../../test/support/prompt-requests.js';
import type { CanonicalPrompt } from '../../../canonical/canonical-request.js';
import { encodeMessagesRequest } from './encode-messages-request.js';
import type { MessagesModelTraits } from './messages-vendor.js';
import {
  BUDGET,
  ADAPTIVE,
  NEWEST,
  encode,
  refusal,
  tool,
  call,
  result,
} from '../../../../test/support/encoded-messages.js';

describe(`${encodeMessagesRequest.name} with tools and formats`, () => {
  describe('tools', () => {
    it("are encoded in the vendor's format", () => {
      const parameters = { type: 'object', properties: { a: { type: 'string' } } };
      const tools = [
        tool({ description: 'Looks.', parameters, cacheControl: { ttl: '5m' } }),
        tool({ name: 'bare' }),
        tool({ name: 'loose', parameters: { properties: {} } }),
        tool({ name: 'strict', parameters, strict: true }),
        tool({ name: 'open', parameters: { type: 'object' }, strict: true }),
      ];
      const { body, dropped } = encode({ tools });
      expect(body.tools).toEqual([
        {
          name: 'look',
          description: 'Looks.',
          input_schema: parameters,
          cache_control: { type: 'ephemeral' },
        },
        { name: 'bare', input_schema: { type: 'object', properties: {} } },
        { name: 'loose', input_schema: { type: 'object', properties: {} } },
        {
          name: 'strict',
          input_schema: { ...parameters, additionalProperties: false },
          strict: true,
        },
        { name: 'open', input_schema: { type: 'object' } },
      ]);
      expect(dropped).toEqual(['tools.strict']);
    });

    it.each<[CanonicalPrompt['toolChoice'], boolean | undefined, object | undefined]>([
      [undefined, undefined, undefined],
      [undefined, true, undefined],
      [undefined, false, { type: 'auto', disable_parallel_tool_use: true }],
      ['auto', undefined, { type: 'auto' }],
      ['auto', false, { type: 'auto', disable_parallel_tool_use: true }],
      ['none', false, { type: 'none' }],
      ['required', undefined, { type: 'any' }],
      ['required', false, { type: 'any', disable_parallel_tool_use: true }],
      [{ name: 'look' }, undefined, { type: 'tool', name: 'look' }],
      [{ name: 'look' }, false, { type: 'tool', name: 'look', disable_parallel_tool_use: true }],
    ])('choice %j with parallel calls %j becomes %j', (toolChoice, parallelToolCalls, spelled) => {
      const { body, dropped } = encode({ tools: [tool()], toolChoice, parallelToolCalls });
      expect(body.tool_choice).toEqual(spelled);
      expect(dropped).toEqual([]);
    });

    it('ignore a choice without tools, unless it requires a call', () => {
      for (const toolChoice of ['auto', 'none'] as const) {
        expect(encode({ toolChoice, parallelToolCalls: false }).body).not.toHaveProperty(
          'tool_choice',
        );
      }
      expect(() => encode({ toolChoice: 'required' })).toThrow(refusal('tool_choice', 'caller'));
    });

    it('cannot be required of models that reject it', () => {
      const toolChoice = { name: 'look' };
      expect(() => encode({ tools: [tool()], toolChoice }, { traits: NEWEST })).toThrow(
        refusal('tool_choice'),
      );
    });

    it('are declared if called earlier, even when none may be called now', () => {
      const messages = [says('user', 'a'), says('assistant', call, call), says('tool', result)];
      expect(encode({ messages }).body).toMatchObject({
        tools: [{ name: 'look', input_schema: { type: 'object' } }],
        tool_choice: { type: 'none' },
      });
    });
  });

  describe('JSON', () => {
    const closed = {
      type: 'object',
      properties: { a: { type: 'string' } },
      required: ['a'],
      additionalProperties: false,
    };
    const schema = (value: Record<string, unknown>) =>
      ({ type: 'json_schema', name: 'x', schema: value }) as const;

    it("with a schema uses the vendor's own option", () => {
      const { body, jsonTool } = encode({ responseFormat: schema(closed) });
      expect(body.output_config).toEqual({ format: { type: 'json_schema', schema: closed } });
      expect(jsonTool).toBeUndefined();
    });

    it('shares one member with an effort', () => {
      const reasoning = { effort: 'low' };
      const prompt = { responseFormat: schema(closed), reasoning };
      expect(encode(prompt, { traits: ADAPTIVE }).body.output_config).toEqual({
        effort: 'low',
        format: { type: 'json_schema', schema: closed },
      });
    });

    it.each<[string, CanonicalPrompt['responseFormat'], MessagesModelTraits, object]>([
      ['no schema', { type: 'json_object' }, BUDGET, { type: 'object' }],
      ['an open schema', schema({ type: 'object' }), BUDGET, { type: 'object' }],
      [
        'a schema, from a model without the option',
        schema(closed),
        { ...BUDGET, structuredOutput: false },
        closed,
      ],
    ])('with %s becomes the arguments of a tool', (_, responseFormat, traits, input_schema) => {
      const { body, jsonTool } = encode({ responseFormat }, { traits });
      expect(jsonTool).toBe('json_answer');
      expect(body.tools).toMatchObject([{ name: jsonTool, input_schema }]);
      expect(body.tool_choice).toEqual({
        type: 'tool',
        name: jsonTool,
        disable_parallel_tool_use: true,
      });
    });

    it("lets the model choose between an answer and the caller's tools", () => {
      const tools = [tool(), tool({ name: 'json_answer' })];
      const { body, jsonTool } = encode({ tools, responseFormat: { type: 'json_object' } });
      expect(jsonTool).toBe('json_answer_');
      expect(body.tool_choice).toEqual({ type: 'any' });
      expect(body.tools).toHaveLength(3);
      const none = encode({ tools, toolChoice: 'none', responseFormat: { type: 'json_object' } });
      expect(none.body.tool_choice).toMatchObject({ type: 'tool', name: jsonTool });
    });

    it('is ignored when a call is required', () => {
      const responseFormat = { type: 'json_object' } as const;
      const { body, jsonTool } = encode({
        tools: [tool()],
        toolChoice: 'required',
        responseFormat,
      });
      expect(jsonTool).toBeUndefined();
      expect(body.tools).toHaveLength(1);
    });

    it.each<[string, CanonicalPrompt['responseFormat'], MessagesModelTraits]>([
      ['with an open schema', schema({ type: 'object' }), NEWEST],
      ['other than an object', schema({ anyOf: [{}] }), BUDGET],
    ])('%s is unsupported when the model cannot be forced', (_, responseFormat, traits) => {
      expect(() => encode({ responseFormat }, { traits })).toThrow(refusal('response_format'));
    });

    it('without a schema is requested in the prompt when no call can be required', () => {
      const { body, jsonTool } = encode(
        { responseFormat: { type: 'json_object' }, tools: [tool()] },
        { traits: NEWEST },
      );
      expect(jsonTool).toBeUndefined();
      expect(body.tools).toHaveLength(1);
      const [instruction] = body.system as { text: string }[];
      expect(instruction?.text).toMatch(/one JSON object and nothing else/);
    });

    it('adds nothing for plain text', () => {
      expect(encode({ responseFormat: { type: 'text' } }).body).not.toHaveProperty('output_config');
    });
  });
});
