import { describe, expect, it } from '@jest/globals';
import { chatModel, modelRoute } from '../../../test/support/catalogue-models.js';
import { chatRequest } from '../../../test/support/chat-requests.js';
import { NO_USAGE } from '../../canonical/usage.js';
import { exactPricingOf } from '../catalogue/exact-pricing-of.js';
import { textCeilingOf } from '../routing/text-ceiling.js';
import { quoteRoute } from './quote-route.js';
import type { BillableRoute } from '../../canonical/billable-route.js';

const PRICING = exactPricingOf({ prompt: '0.000001', completion: '0.000002' });

function routeOf(fields: Record<string, unknown>): BillableRoute {
  const request = chatRequest(fields);
  const offered = modelRoute('one', { pricing: PRICING });
  const model = chatModel('a/b', [offered], { max_completion_tokens: 8_000 });
  return {
    ...{ model: 'a/b', provider: 'one', catalogueId: 'a/b', pricing: PRICING },
    trafficMode: 'shared',
    ...textCeilingOf(request, model, offered),
  };
}

function quoteOf(fields: Record<string, unknown>, available = 1e9, usual?: number) {
  return quoteRoute(chatRequest(fields), routeOf(fields), available, usual);
}

describe(quoteRoute.name, () => {
  /** Estimated at 100 tokens; bounded by 134, and 8 per message. */
  const messages = [{ role: 'user', content: 'word'.repeat(100) }];

  it('prices the shortest, a usual and the longest answer', () => {
    expect(quoteOf({ messages, max_tokens: 2_000 })).toMatchObject({
      least: 50 + 2,
      likely: 100 + 2 * 500,
      worst: 142 + 2 * 2_000,
    });
    expect(quoteOf({ messages, max_tokens: 2_000, n: 2 }, 1e9, 30.4)).toMatchObject({
      least: 50 + 4,
      likely: 100 + 2 * 60,
      worst: 142 + 2 * 4_000,
    });
  });

  it('expects no more than the output limit or what the credits cover', () => {
    expect(quoteOf({ messages, max_tokens: 20 })).toMatchObject({ likely: 100 + 2 * 20 });
    const open = quoteOf({ messages }, 20_000, 7_000);
    expect(open.worst).toBe(142 + 2 * 4_096);
    expect(open.expected.outputTokens).toBe(4_096);
    expect(quoteOf({ messages }).worst).toBe(142 + 2 * 8_000);
  });

  it('includes the BYOK fee and a cached prompt', () => {
    const pricing = exactPricingOf({
      ...{ prompt: '0.000001', completion: '0.000002', input_cache_read: '0.0000001' },
    });
    const fields = { messages, max_tokens: 2_000 };
    const own = { ...routeOf(fields), trafficMode: 'byok' as const, byokFeePercent: 10 };
    expect(quoteRoute(chatRequest(fields), { ...own, pricing }, 1e9, undefined)).toMatchObject({
      least: 1,
      likely: 110,
      worst: 415,
    });
  });

  it('prices other work as estimated, and at half where vendors count', () => {
    const request = { estimate: { ...NO_USAGE, inputTokens: 40, imageCount: 2 } };
    const route: BillableRoute = {
      ...{ model: 'a/b', provider: 'one', catalogueId: 'a/b', trafficMode: 'shared' },
      pricing: exactPricingOf({ prompt: '0.000001', completion: '0', image: '0.0001' }),
      ceiling: { ...NO_USAGE, inputTokens: 90, imageCount: 2 },
    };
    const quoted = quoteRoute(request as Parameters<typeof quoteRoute>[0], route, 0, 9);
    expect(quoted).toMatchObject({ least: 220, likely: 240, worst: 290 });
  });
});
