import { describe, expect, it } from '@jest/globals';
import { chatModel, modelRoute, tokenPricing } from '../../../test/support/catalogue-models.js';
import type { Model } from '../catalogue/catalogue.types.js';
import { chatRequest, jsonBody } from '../../../test/support/chat-requests.js';
import { configuredRoutes } from './configured-routes.js';
import { textCeilingOf } from './text-ceiling.js';
import { gpt, select } from '../../../test/support/route-selection.js';

describe(configuredRoutes.name, () => {
  describe('ceiling', () => {
    const ceilingOf = (fields: Record<string, unknown>, max: number | null = null) => {
      const model = chatModel('a/b', [modelRoute('a')], { max_completion_tokens: max });
      return select(fields, {}, [model])[0].ceiling;
    };
    const outputOf = (fields: Record<string, unknown>, max: number | null = null) =>
      select(fields, {}, [chatModel('a/b', [modelRoute('a')], { max_completion_tokens: max })])[0]
        .output;

    it.each<[string, Record<string, unknown>, number | null, number]>([
      ['max_tokens', { max_tokens: 10 }, 100, 10],
      ['max_tokens beyond the model’s maximum', { max_tokens: 1_000 }, 100, 1_000],
      ['the larger of both limits', { max_tokens: 10, max_completion_tokens: 20 }, null, 20],
      ["the model's maximum", {}, 100, 100],
      ['4,096 where the maximum is larger', {}, 100_000, 4_096],
      ['4,096 where there is none', {}, null, 4_096],
      ['several answers', { n: 3, max_tokens: 10 }, null, 30],
    ])('counts %s', (_, fields, max, outputTokens) => {
      expect(ceilingOf(fields, max)).toMatchObject({ outputTokens, cacheReadTokens: 0 });
    });

    it.each<[string, Record<string, unknown>, number | null, object]>([
      ["the caller's limit", { max_tokens: 10 }, 100, { least: 10, most: 10, tokens: 10 }],
      ['up to the longest answer', {}, 9_000, { least: 4_096, most: 9_000, tokens: 4_096 }],
      ['up to the context where the maximum is unknown', {}, null, { least: 4_096, most: 128_000 }],
      ['a short longest answer', { n: 2 }, 100, { least: 100, most: 100, choices: 2 }],
    ])('bounds the output by %s', (_, fields, max, expected) => {
      expect(outputOf(fields, max)).toMatchObject({ ...expected, isShort: false });
    });

    it('leaves room for the answer next to the prompt', () => {
      const messages = [{ role: 'user', content: 'x'.repeat(3_000) }];
      expect(outputOf({ messages })!.fitting).toBe(128_000 - 1_008);
      expect(
        outputOf({ messages: [{ role: 'user', content: 'x'.repeat(400_000) }] })!.fitting,
      ).toBe(1_024);
    });

    const image = { type: 'image_url', image_url: { url: 'https://a.b/c.png' } };
    const pictures = (count: number) => ({
      messages: [{ role: 'user', content: Array.from({ length: count }, () => image) }],
    });

    it('counts images by the model’s figure, at most up to its context', () => {
      const tokensOf = (count: number, overrides: object) =>
        select(pictures(count), {}, [chatModel('a/b', [modelRoute('a')], overrides)])[0].ceiling
          .inputTokens;
      expect(tokensOf(2, { media_tokens: { image: 100 } })).toBe(208);
      expect(tokensOf(2, {})).toBe(10_008);
      expect(tokensOf(100, {})).toBe(128_000);
    });

    it('counts the whole prompt as cache writes where those are billed', () => {
      const ceilingWith = (prices: object, text = 'x') =>
        select({ messages: [{ role: 'user', content: text }] }, {}, [
          chatModel('a/b', [modelRoute('a', { pricing: { ...tokenPricing(), ...prices } })]),
        ])[0].ceiling;
      const short = {
        cacheWrite: 2n * tokenPricing().prompt,
        cacheWriteLong: 2n * tokenPricing().prompt,
      };
      const long = { ...short, cacheWriteLong: 3n * tokenPricing().prompt };
      expect(ceilingWith({})).toMatchObject({ cacheWriteTokens: 0 });
      expect(ceilingWith(short)).toMatchObject({ cacheWriteTokens: 9, cacheWriteLongTokens: 0 });
      expect(ceilingWith(long)).toMatchObject({ cacheWriteTokens: 9, cacheWriteLongTokens: 0 });
      for (const ttl of [
        '1h',
        String.raw`1\u0068`,
        String.raw`\u0031\u0068`,
        String.raw`\u0031h`,
      ]) {
        const body = jsonBody(`{"cache_control":{"type":"ephemeral","ttl":"${ttl}"}}`);
        const request = { ...chatRequest({ messages: [{ role: 'user', content: 'x' }] }), body };
        const row = modelRoute('a', { pricing: { ...tokenPricing(), ...long } });
        const { ceiling } = textCeilingOf(request, chatModel('a/b', [row]), row);
        expect(ceiling).toMatchObject({ cacheWriteTokens: 9, cacheWriteLongTokens: 9 });
      }
    });

    it('counts all output as reasoning where that is more expensive', () => {
      const pricing = { ...tokenPricing(), reasoning: 3n * tokenPricing().completion };
      const model = chatModel('a/b', [modelRoute('a', { pricing })]);
      const { ceiling } = select({ max_tokens: 7 }, {}, [model])[0];
      expect(ceiling).toMatchObject({ outputTokens: 7, reasoningTokens: 7 });
    });

    it('adds predicted output, which is billed even when rejected', () => {
      // 3,000 characters.
      const prediction = { content: 'x'.repeat(2_986) };
      expect(ceilingOf({ max_tokens: 7, prediction }).outputTokens).toBe(1_007);
      expect(ceilingOf({ max_tokens: 7, prediction: null }).outputTokens).toBe(7);
      expect(ceilingOf({ prediction }, 100_000).outputTokens).toBe(5_096);
      expect(ceilingOf({ prediction }, 4_500).outputTokens).toBe(4_500);
    });

    it('counts the prompt', () => {
      const messages = [{ role: 'user', content: 'x'.repeat(3_000) }];
      expect(ceilingOf({ messages }).inputTokens).toBeGreaterThanOrEqual(1_000);
    });
  });

  describe('time limits', () => {
    const limitsOf = (stream: boolean, timeouts = {}, limits = {}) =>
      select({ stream }, { limits }, [chatModel('a/b', [modelRoute('a', { timeouts })])])[0].limits;

    it('allow more time for whole answers', () => {
      expect(limitsOf(true)).toEqual({ firstByteMs: 60_000, idleMs: 60_000, requestMs: 600_000 });
      expect(limitsOf(false).firstByteMs).toBe(300_000);
    });

    it('use the catalogue first, then the settings', () => {
      const settings = { firstByteTimeoutMs: 1, idleTimeoutMs: 2, requestTimeoutMs: 3 };
      expect(limitsOf(true, {}, settings)).toEqual({ firstByteMs: 1, idleMs: 2, requestMs: 3 });
      const timeouts = { first_byte_ms: 7, idle_ms: 8, request_ms: 9 };
      expect(limitsOf(false, timeouts, settings)).toEqual({
        firstByteMs: 7,
        idleMs: 8,
        requestMs: 9,
      });
    });
  });

  describe('usage bounds', () => {
    const bounded: Model = { ...gpt, context_length: 1_000, max_completion_tokens: 100 };
    const boundsOf = (fields: Record<string, unknown>, model = bounded) =>
      select(fields, {}, [model])[0].bounds;

    it('use the model’s context and output, for each choice', () => {
      expect(boundsOf({})).toMatchObject({ inputTokens: 1_000, outputTokens: 100 });
      expect(boundsOf({ n: 3 })).toMatchObject({ inputTokens: 1_000, outputTokens: 300 });
    });

    it('ignore the caller’s limit, which the vendor may have ignored too', () => {
      expect(boundsOf({ max_tokens: 5 })).toMatchObject({ outputTokens: 100 });
    });

    it('allow no searches unless requested, else as many as one answer can run', () => {
      expect(boundsOf({})).toMatchObject({ webSearches: 0 });
      const searching = { ...bounded, pricing: { ...bounded.pricing, web_search: '0.01' } };
      expect(boundsOf({ web_search_options: {} }, searching)).toMatchObject({ webSearches: 100 });
    });

    it('use the context where the model has no output limit', () => {
      expect(boundsOf({}, { ...bounded, max_completion_tokens: null })).toMatchObject({
        outputTokens: 1_000,
      });
    });

    it('cover a prompt longer than the context as priced', () => {
      const content = 'x'.repeat(30_000);
      const { inputTokens } = boundsOf({ messages: [{ role: 'user', content }] })!;
      expect(inputTokens).toBeGreaterThanOrEqual(10_000);
    });
  });
});
