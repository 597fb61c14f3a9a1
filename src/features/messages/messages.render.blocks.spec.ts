import { describe, expect, it } from '@jest/globals';
import type { CanonicalEvent } from '../../canonical/canonical-event.js';
import {
  text,
  think,
  call,
  args,
  finish,
  toolUse,
  streamOf,
  bytesOf,
  wholeOf,
  contentOf,
} from '../../../test/support/rendered-messages.js';

describe('message blocks', () => {
  describe('reasoning', () => {
    it.each<[string, CanonicalEvent[], object[]]>([
      [
        'signed by the native vendor',
        [think('Hm'), think('m.'), think('', 'anthropic:c2ln')],
        [{ type: 'thinking', thinking: 'Hmm.', signature: 'c2ln' }],
      ],
      [
        'signed by another vendor',
        [think('Hmm.', 'other:c2ln')],
        [{ type: 'thinking', thinking: 'Hmm.', signature: 'other:c2ln' }],
      ],
      [
        'unsigned',
        [think('Hm'), think('m.')],
        [{ type: 'thinking', thinking: 'Hmm.', signature: '' }],
      ],
      [
        'with only a signature',
        [think('', 'anthropic:c2ln')],
        [{ type: 'thinking', thinking: '', signature: 'c2ln' }],
      ],
      [
        'encrypted',
        [think('', 'anthropic:redacted:QQ=='), think('', 'other:Qg==')],
        [
          { type: 'redacted_thinking', data: 'QQ==' },
          { type: 'redacted_thinking', data: 'other:Qg==' },
        ],
      ],
      [
        'in several blocks',
        [think('One', 'anthropic:MQ=='), think('Two'), think('', 'anthropic:Mg==')],
        [
          { type: 'thinking', thinking: 'One', signature: 'MQ==' },
          { type: 'thinking', thinking: 'Two', signature: 'Mg==' },
        ],
      ],
      [
        'followed by an encrypted thought',
        [think('One'), think('', 'anthropic:redacted:Mg==')],
        [
          { type: 'thinking', thinking: 'One', signature: '' },
          { type: 'redacted_thinking', data: 'Mg==' },
        ],
      ],
    ])('renders reasoning before the text: %s', async (_name, events, blocks) => {
      expect(await contentOf([...events, text('So.')])).toEqual([
        ...blocks,
        { type: 'text', text: 'So.' },
      ]);
    });
  });

  describe('tool calls', () => {
    it('renders calls in sequence', async () => {
      const events = [text('a'), call(0), args(0, '{"a":'), args(0, '1}'), call(1), args(1, '{}')];
      expect(await contentOf(events)).toEqual([
        { type: 'text', text: 'a' },
        toolUse(0, { a: 1 }),
        toolUse(1, {}),
      ]);
    });

    it('separates calls whose arguments are interleaved', async () => {
      const events = [
        ...[call(0), call(1), args(0, '{"a":'), args(1, '{"b":{'), args(0, '"}"'), call(2)],
        ...[args(1, '}'), args(0, '}'), args(2, '{"c":3}'), args(1, '}')],
      ];
      expect(await contentOf(events)).toEqual([
        toolUse(0, { a: '}' }),
        toolUse(1, { b: {} }),
        toolUse(2, { c: 3 }),
      ]);
    });

    it('renders an empty input without arguments', async () => {
      const content = [toolUse(0, {}), toolUse(1, { b: 1 })];
      expect(await contentOf([call(0), call(1), args(1, '{"b":1}')])).toEqual(content);
      expect(await contentOf([call(0), args(0, ''), call(1), args(1, '{"b":1}')])).toEqual(content);
    });

    it('accepts any numbering', async () => {
      expect(await contentOf([call(2), args(2, '{}')])).toEqual([toolUse(2, {})]);
    });

    it('renders signatures as redacted thoughts before their calls', async () => {
      expect(await contentOf([call(0, 'other:c2ln'), args(0, '{}'), call(1)])).toEqual([
        { type: 'redacted_thinking', data: 'call:Y2FsbF8w:other:c2ln' },
        toolUse(0, {}),
        toolUse(1, {}),
      ]);
    });

    it("preserves the model's numbers and keys", async () => {
      const json = '{"id":12345678901234567890,"__proto__":{"a":1e400}}';
      expect(await bytesOf([call(0), args(0, json), finish()])).toContain(`"input":${json}`);
    });

    it.each(['{"a":', '[1]', '"x"', 'null', '{"a":1}}', 'city=Rome'])(
      'wraps arguments that are not an object: %s',
      async (json) => {
        const { content } = await wholeOf([call(0), args(0, json), finish('length')]);
        expect(content).toEqual([toolUse(0, { INVALID_JSON: json })]);
        const streamed = streamOf([call(0), args(0, json), finish('length')]);
        const pieces = streamed.flatMap(({ delta }) => delta?.partial_json ?? []);
        expect(pieces).toEqual([json]);
      },
    );
  });
});
