import { describe, expect, it } from '@jest/globals';
import { CHAT } from '../support/paths.js';
import { setUpStreamedChat } from '../support/streamed-chat.js';
import { setTimeout as wait } from 'node:timers/promises';
import { politeAnswer } from '../support/fake-openai.js';
import { readStream } from '../support/streamed-answer.js';
import { delta, DONE, finish, streamOf, USAGE, usageChunk } from '../support/vendor-stream.js';

/** 10 tokens at 1 credit and 5 at 2. */
const COST = 20;

describe('one answer, streamed or whole', () => {
  const chat = setUpStreamedChat({
    input_cache_read: '0.00000025',
    internal_reasoning: '0.000004',
  });
  const { ask, bodyOf, rowOf } = chat;

  describe('has the same text, usage and charge', () => {
    const usage = (
      prompt: number,
      cached: number,
      completion: number,
      reasoning: number,
    ): Record<string, unknown> => ({
      prompt_tokens: prompt,
      completion_tokens: completion,
      total_tokens: prompt + completion,
      prompt_tokens_details: { cached_tokens: cached },
      completion_tokens_details: { reasoning_tokens: reasoning },
    });
    it.each<[string, Parameters<typeof politeAnswer>[0], number]>([
      ['plain', { usage: usage(10, 0, 5, 0) }, 10 + 5 * 2],
      ['with cached tokens', { usage: usage(1_000, 900, 5, 0) }, 100 + 900 / 4 + 5 * 2],
      ['with a cost to round up', { usage: usage(10, 9, 5, 0) }, 1 + 2.25 + 5 * 2 + 0.75],
      ['with reasoning tokens', { usage: usage(10, 0, 500, 400) }, 10 + 100 * 2 + 400 * 4],
      ['with both', { usage: usage(1_000, 1_000, 300, 300) }, 250 + 300 * 4],
      ['without output', { text: '', usage: usage(10, 0, 0, 0) }, 10],
      ['truncated', { finishReason: 'length', usage: usage(10, 0, 5, 0) }, 20],
      ['filtered', { finishReason: 'content_filter', usage: usage(10, 0, 5, 0) }, 20],
      ['with an unknown finish reason', { finishReason: 'eos', usage: usage(10, 0, 5, 0) }, 20],
      ['with counts only', { usage: USAGE }, COST],
      ['without usage', { usage: null, text: 'é'.repeat(41) }, 100 + 11 * 2],
      ['without usage, beyond the BMP', { usage: null, text: '👋'.repeat(41) }, 100 + 11 * 2],
      ['with usage of zero', { usage: usage(0, 0, 0, 0), text: 'four' }, 100 + 2],
      ['with nonsensical usage', { usage: { prompt_tokens: -5 }, text: 'four' }, 100 + 2],
    ])('%s', async (_name, answer, cost) => {
      chat.fake.answer = politeAnswer({ text: 'Grüße, 日本 👋🏽 and "more".', ...answer });
      const whole = await chat.gateway.post(CHAT, bodyOf({}));
      const streamed = await readStream(await ask({ stream_options: { include_usage: true } }));
      const body = (await whole.json()) as {
        model: string;
        choices: [{ message: { content: string }; finish_reason: string }];
        usage: unknown;
      };

      expect(streamed.text).toBe(body.choices[0].message.content);
      expect(streamed.finishReasons).toEqual([body.choices[0].finish_reason]);
      expect(streamed.chunks[0]?.model).toBe(body.model);
      expect(streamed.last.usage).toEqual(body.usage);
      const rows = [await rowOf(whole.headers.get('x-request-id')), await rowOf(streamed.id)];
      const [first, second] = rows.map((row) => ({
        cost: row.cost,
        usage_source: row.usage_source,
        tokens: [
          row.prompt_tokens,
          row.completion_tokens,
          row.cache_read_tokens,
          row.reasoning_tokens,
        ],
        finish_reason: row.finish_reason,
      }));
      expect(second).toEqual(first);
      expect(first!.cost).toBe(cost);
      expect(whole.headers.get('x-gateway-cost')).toBe(String(cost));
    });
  });

  it('concurrent requests do not mix', async () => {
    chat.fake.answer = async (call, response) => {
      const { user } = call.body as { user: string };
      const pieces = Array.from({ length: 20 }, (_, index) =>
        delta({ content: `${user}.${index} ` }),
      );
      const usage = { ...USAGE, prompt_tokens: Number(user) };
      if (call.body.stream === true) {
        await streamOf([...pieces, finish(), usageChunk(usage), DONE], 'end', 1)(call, response);
        return;
      }
      await wait(Number(user) % 7);
      await politeAnswer({ text: `${user} whole`, usage })(call, response);
    };
    await Promise.all(
      Array.from({ length: 40 }, async (_, index) => {
        const user = String(1_000 + index);
        const response = await ask({ user, stream: index % 2 === 0 });
        if (index % 2 === 0) {
          const { text } = await readStream(response);
          const expected = Array.from({ length: 20 }, (_, at) => `${user}.${at}`);
          expect(text.trim().split(' ')).toEqual(expected);
        } else {
          expect(await response.text()).toContain(`"content":"${user} whole"`);
        }
        const row = await rowOf(response.headers.get('x-request-id'));
        expect([row.prompt_tokens, row.cost]).toEqual([Number(user), Number(user) + 5 * 2]);
      }),
    );
  });
});
