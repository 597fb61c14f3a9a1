import { describe, expect, it } from '@jest/globals';
import { ChatStreamRelay } from './chat-stream-relay.js';
import {
  OPTIONS,
  WITH_USAGE,
  type Json,
  relayText,
  chunk,
  choice,
  text,
  opening,
  stop,
  usage,
  counted,
  usageChunk,
  sse,
} from '../../../../test/support/chat-streams.js';

describe(`${ChatStreamRelay.name}, counting`, () => {
  describe('usage', () => {
    const started = [
      opening({ usage: null }),
      text('a', { usage: null }),
      text('b', { usage: null }),
    ];
    const streamed = (...rest: (Json | string)[]) => sse(...started, ...rest);

    it('is removed for callers who did not request it, including `"usage":null`', () => {
      const { bytes, usages } = relayText(streamed(stop({ usage: null }), usageChunk(), '[DONE]'));
      expect(bytes).not.toContain('usage');
      expect(usages).toEqual([counted]);
    });

    it('is sent last and alone to callers who requested it, under the alias', () => {
      const stream = streamed(stop({ usage: null }), usageChunk(), '[DONE]');
      const { chunks, usages } = relayText(stream, WITH_USAGE);
      expect(chunks.slice(0, -1).some((item) => 'usage' in item)).toBe(false);
      expect(chunks.at(-1)).toEqual({ ...usageChunk(), model: 'openai/gpt-4o' });
      expect(usages).toEqual([counted]);
    });

    it.each([OPTIONS, WITH_USAGE])('is read from a chunk that also has choices (%j)', (options) => {
      const stream = sse(...started, stop({ usage }), '[DONE]');
      const { chunks, usages, finishReason } = relayText(stream, options);
      expect(usages).toEqual([counted]);
      expect(finishReason).toBe('stop');
      const ending = chunks.find(({ choices }) =>
        (choices as { finish_reason: unknown }[]).some((it) => it.finish_reason === 'stop'),
      );
      expect(ending).not.toHaveProperty('usage');
      const shown = chunks.filter((item) => item.usage != null);
      expect(shown).toEqual(
        options.includeUsage ? [{ ...usageChunk(), model: options.alias }] : [],
      );
    });

    it('is taken from the last chunk that has any', () => {
      const later = { prompt_tokens: 10, completion_tokens: 6 };
      const running = (completion_tokens: number) => ({ prompt_tokens: 10, completion_tokens });
      const stream = sse(
        opening({ usage: running(0) }),
        text('a', { usage: running(1) }),
        text('b', { usage: running(2) }),
        stop({ usage: later }),
        '[DONE]',
      );
      const { usages, chunks } = relayText(stream, WITH_USAGE);
      expect(usages).toEqual([expect.objectContaining({ inputTokens: 10, outputTokens: 6 })]);
      expect(chunks.filter((item) => item.usage != null)).toEqual([
        expect.objectContaining({ usage: later, choices: [] }),
      ]);
    });

    it('is read from a chunk after the finish reason', () => {
      const { usages } = relayText(sse(...started, stop(), text(''), usageChunk(), '[DONE]'));
      expect(usages).toEqual([counted]);
    });

    it('is read from a choice', () => {
      const ending = chunk([{ ...choice({}, 'stop'), usage }]);
      for (const options of [OPTIONS, WITH_USAGE]) {
        expect(relayText(sse(...started, ending, '[DONE]'), options).usages).toEqual([counted]);
      }
    });

    it('is ignored when all counts are zero', () => {
      const zero = chunk([], { usage: { prompt_tokens: 0, completion_tokens: 0 } });
      expect(relayText(sse(...started, stop(), zero, '[DONE]'), WITH_USAGE).usages).toEqual([]);
    });

    it('survives a chunk with null first and figures elsewhere', () => {
      const odd = text('c', { first: { a: 1, usage: null }, usage });
      expect(relayText(sse(...started, odd, stop(), '[DONE]')).usages).toEqual([counted]);
    });
  });
});
