import { describe, expect, it } from '@jest/globals';
import { chatRequest } from '../../../test/support/chat-requests.js';
import { NO_USAGE } from '../../canonical/usage.js';
import type { EmbeddingRequest } from '../../canonical/work-request.js';
import type { TokenCounter } from '../ledger/token-counter.js';
import { DensePrompts } from './dense-prompts.service.js';

const PROMPT = 'x'.repeat(3_000);

describe(DensePrompts.name, () => {
  it.each([
    // The count, and the resulting size.
    ['at the usual bound for ordinary text', 700, undefined],
    ['at the count plus a margin for dense text', 2_000, 2_500],
    ['at a token per character when counting is too slow', undefined, 3_000],
  ])('sizes a prompt %s', async (_how, count, tokens) => {
    const counted: string[] = [];
    const counter = {
      count: (_tenantId: string, texts: readonly string[]) => {
        counted.push(...texts);
        return Promise.resolve(count);
      },
    };
    const request = chatRequest({ messages: [{ role: 'user', content: PROMPT }] });
    const prompts = new DensePrompts(counter as unknown as TokenCounter);
    const dense = await prompts.counted('tenant', request);
    expect(counted).toContain(PROMPT);
    if (tokens === undefined) expect(dense).toBe(request);
    else expect(dense.promptSize.tokens - tokens).toBeLessThan(100);
    expect(dense.promptSize.tokens).toBeGreaterThanOrEqual(tokens ?? 1_000);
  });

  it.each([
    [100, 1_000],
    [2_000, 2_500],
  ])('sizes texts to embed with %d counted tokens as %d', async (count, inputTokens) => {
    const request = {
      kind: 'embedding',
      input: { type: 'texts', texts: [PROMPT] },
      ceiling: { ...NO_USAGE, inputTokens: 1_000 },
    } as unknown as EmbeddingRequest;
    const counter = { count: () => Promise.resolve(count) } as unknown as TokenCounter;
    const dense = await new DensePrompts(counter).counted('tenant', request);
    expect(dense.ceiling.inputTokens).toBe(inputTokens);
  });
});
