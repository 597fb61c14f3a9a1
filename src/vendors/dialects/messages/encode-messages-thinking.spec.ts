import { describe, expect, it } from '@jest/globals';
import { says } from '../../../../test/support/prompt-requests.js';
import type { CanonicalPrompt, MessagePart } from '../../../canonical/canonical-request.js';
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

describe(`${encodeMessagesRequest.name} with thinking`, () => {
  describe('thinking', () => {
    const budget = (budget_tokens: number) => ({ type: 'enabled', budget_tokens });

    it.each<[CanonicalPrompt['reasoning'], number, object | undefined, string[]]>([
      [{ effort: 'low' }, 10_000, budget(2_000), []],
      [{ effort: 'high' }, 10_000, budget(8_000), []],
      [{ enabled: true }, 10_000, budget(5_000), []],
      [{ effort: 'minimal' }, 4_000, budget(1_024), []],
      [{ effort: 'minimal' }, 2_000, undefined, ['reasoning']],
      [{ maxTokens: 3_000 }, 4_000, budget(3_000), []],
      [{ maxTokens: 9_000 }, 4_000, budget(3_999), []],
      [{ maxTokens: 9_000 }, 1_024, undefined, ['reasoning.max_tokens']],
      [{ maxTokens: 500 }, 4_000, undefined, ['reasoning.max_tokens']],
      [{ maxTokens: 500, effort: 'medium' }, 4_000, budget(2_000), ['reasoning.max_tokens']],
      [{ effort: 'none' }, 4_000, undefined, []],
      [{ enabled: false }, 4_000, undefined, []],
      [{ maxTokens: 0 }, 4_000, undefined, []],
    ])(
      'turns %j of %d tokens into the budget %j',
      (reasoning, maxOutputTokens, thinking, dropped) => {
        const encoded = encode({ reasoning }, { maxOutputTokens });
        expect(encoded.body.thinking).toEqual(thinking);
        expect(encoded.dropped).toEqual(dropped);
      },
    );

    it('always keeps the budget below `max_tokens`', () => {
      for (const effort of ['minimal', 'low', 'medium', 'high', 'xhigh', 'max']) {
        for (const maxOutputTokens of [1, 1_024, 1_025, 1_500, 2_048, 5_000, 64_000]) {
          const { thinking } = encode({ reasoning: { effort } }, { maxOutputTokens }).body;
          if (thinking === undefined) continue;
          const { budget_tokens } = thinking as { budget_tokens: number };
          expect(budget_tokens).toBeGreaterThanOrEqual(1_024);
          expect(budget_tokens).toBeLessThan(maxOutputTokens);
        }
      }
    });

    it.each<[CanonicalPrompt['reasoning'], string | undefined, string[]]>([
      [{ effort: 'minimal' }, 'low', []],
      [{ effort: 'medium' }, 'medium', []],
      [{ effort: 'xhigh' }, 'high', []],
      [{ effort: 'max' }, 'max', []],
      [{ enabled: true }, undefined, []],
      [{ maxTokens: 5_000 }, undefined, ['reasoning.max_tokens']],
    ])('turns %j into the effort %j for models without a budget', (reasoning, effort, dropped) => {
      const encoded = encode({ reasoning }, { traits: ADAPTIVE });
      expect(encoded.body.thinking).toEqual({ type: 'adaptive', display: 'summarized' });
      expect(encoded.body.output_config).toEqual(effort === undefined ? undefined : { effort });
      expect(encoded.dropped).toEqual(dropped);
    });

    it("is turned off by the model's own value", () => {
      const off = (traits: MessagesModelTraits) => {
        const { body, dropped } = encode({ reasoning: { effort: 'none' } }, { traits });
        return { thinking: body.thinking, config: body.output_config, dropped };
      };
      const none = { thinking: undefined, config: undefined, dropped: [] };
      expect(off(ADAPTIVE)).toEqual(none);
      expect(off(NEWEST)).toEqual({ ...none, thinking: { type: 'disabled' } });
      expect(off({ ...NEWEST, thinkingOff: 'between_tools' })).toEqual({
        ...none,
        thinking: { type: 'between_tools' },
      });
      expect(off({ ...NEWEST, thinkingOff: undefined })).toEqual({
        thinking: undefined,
        config: { effort: 'low' },
        dropped: ['reasoning'],
      });
    });

    it('is dropped and reported for models without thinking', () => {
      const { body, dropped } = encode(
        { reasoning: { effort: 'low' } },
        { traits: { ...BUDGET, thinking: 'none' } },
      );
      expect(body.thinking).toBeUndefined();
      expect(dropped).toEqual(['reasoning']);
    });

    it('rejects an unknown effort', () => {
      expect(() => encode({ reasoning: { effort: 'heroic' } })).toThrow(refusal('reasoning'));
    });

    it('is off when a tool call is required', () => {
      const { body, dropped } = encode({
        reasoning: { effort: 'high' },
        tools: [tool()],
        toolChoice: 'required',
      });
      expect(body.thinking).toBeUndefined();
      expect(dropped).toEqual(['reasoning']);
    });

    const thought: MessagePart = { type: 'reasoning', text: 'hm', signature: 'maker:c2ln' };
    const foreign: MessagePart = { type: 'reasoning', text: 'hm', signature: 'other:c2ln' };
    it.each<[string, CanonicalPrompt['messages'], boolean]>([
      ['a new question', [says('assistant', 'a'), says('user', 'b')], true],
      ['a call with its reasoning', [says('assistant', thought, call), says('tool', result)], true],
      [
        'a later call of a turn with its reasoning',
        [
          says('user', 'a'),
          says('assistant', thought, call),
          says('tool', result),
          says('assistant', call),
          says('tool', result),
        ],
        true,
      ],
      ['a call without it', [says('assistant', call), says('tool', result)], false],
      [
        "another vendor's reasoning",
        [says('assistant', foreign, call), says('tool', result)],
        false,
      ],
      [
        'results and a user text',
        [says('assistant', call), says('tool', result), says('user', 'b')],
        false,
      ],
      ['a message to continue', [says('user', 'a'), says('assistant', 'b')], false],
    ])('with a budget after %s: %#', (_, messages, isAsked) => {
      const { body, dropped } = encode({ messages, reasoning: { effort: 'high' } });
      expect(body.thinking !== undefined).toBe(isAsked);
      expect(dropped).toEqual(isAsked ? [] : ['reasoning']);
    });
  });
});
