import { describe, expect, it } from '@jest/globals';
import { SeededRandom } from '../../../../test/support/seeded-random.js';
import { FREE, type ExactPricing } from '../../../canonical/exact-pricing.js';
import { NO_USAGE, type Usage } from '../../../canonical/usage.js';
import { priceRoute, splitCharge } from '../pricing.js';
import {
  explainCharge,
  ReceiptMismatchError,
  type ChargeArithmetic,
  type ChargeLine,
} from './explain-charge.js';

const CENT = 10n ** 16n;
const BILLED = { trafficMode: 'shared', usageSource: 'upstream', outcome: 'completed' } as const;

/** Adds the lines up independently, in exact fractions. */
function recompute(lines: readonly ChargeLine[]): bigint {
  const exact = lines.reduce((sum, { quantity, unit_price: price, per }) => {
    const [whole = '', fraction = ''] = price.split('.');
    const units = BigInt(whole + fraction.padEnd(18, '0'));
    return sum + (BigInt(quantity) * units * 60_000n) / BigInt(per);
  }, 0n);
  const credit = 60_000n * 10n ** 12n;
  return (exact + credit - 1n) / credit;
}

function due({ rounded, byok_fee_percent: percent }: ChargeArithmetic): number {
  return percent === null ? rounded : Math.ceil((rounded * percent) / 100);
}

/** Returns the numerator over 3 × 10^17 of a receipt's amount. */
function numerator(amount: string): bigint {
  const [decimal = '', divisor] = amount.split('/');
  const [whole = '', fraction = ''] = decimal.split('.');
  return BigInt(whole + fraction.padEnd(17, '0')) * (divisor === undefined ? 3n : 1n);
}

function randomUse(random: SeededRandom): { usage: Usage; pricing: ExactPricing } {
  const count = () => (random.next() < 0.5 ? 0 : random.below(10 ** (1 + random.below(7))));
  const price = () => (random.next() < 0.4 ? 0n : BigInt(random.below(10 ** 9)) * 10n ** 7n);
  const [cacheReadTokens, cacheWriteLongTokens] = [count(), count()];
  const cacheWriteTokens = cacheWriteLongTokens + count();
  const reasoningTokens = count();
  return {
    usage: {
      inputTokens: cacheReadTokens + cacheWriteTokens + count(),
      outputTokens: reasoningTokens + count(),
      cacheReadTokens,
      cacheWriteTokens,
      cacheWriteLongTokens,
      reasoningTokens,
      webSearches: random.below(3),
      inputCharacters: count(),
      inputBytes: count(),
      audioMs: count(),
      imageCount: random.below(4),
      videoSeconds: random.below(20),
    },
    pricing: {
      prompt: price(),
      completion: price(),
      request: price(),
      image: price(),
      cacheRead: price(),
      cacheWrite: price(),
      cacheWriteLong: price(),
      reasoning: price(),
      webSearch: price(),
      audioCharacter: price(),
      audioByte: price(),
      audioMinute: price(),
      videoSecond: price(),
    },
  };
}

describe(explainCharge.name, () => {
  it('adds up to the charge for any usage and prices', () => {
    const random = new SeededRandom(20);
    for (let round = 0; round < 2_000; round++) {
      const { usage, pricing } = randomUse(random);
      const trafficMode = random.pick(['shared', 'byok'] as const);
      const byokFeePercent = trafficMode === 'byok' ? random.below(101) : undefined;
      const prices = { pricing, byokFeePercent };
      const whole = priceRoute(usage, { ...prices, trafficMode });
      const held = random.pick([Infinity, random.below(1_000_000)]);
      const { charge } = splitCharge(whole, held);
      const { cost, shortfall } = splitCharge(charge, random.pick([Infinity, random.below(1_000)]));
      const isCut = held !== Infinity;
      const explained = explainCharge(
        {
          cost,
          shortfall,
          trafficMode,
          usageSource: isCut ? 'estimated' : 'upstream',
          outcome: isCut ? 'cancelled' : 'completed',
        },
        usage,
        prices,
      );
      expect(BigInt(explained.rounded)).toBe(recompute(explained.lines));
      expect(due(explained) - explained.beyond_hold - explained.shortfall).toBe(cost);
      const sum = explained.lines.reduce((total, { amount }) => total + numerator(amount), 0n);
      expect(numerator(explained.sum)).toBe(sum);
    }
  });

  it('writes audio amounts without a finite decimal as thirds', () => {
    const usage = { ...NO_USAGE, audioMs: 1_000 };
    const prices = { pricing: { ...FREE, audioMinute: CENT } };
    expect(explainCharge({ ...BILLED, cost: 167, shortfall: 0 }, usage, prices)).toMatchObject({
      lines: [
        { item: 'audio_ms', quantity: 1_000, unit_price: '0.01', per: 60_000, amount: '500/3' },
      ],
      sum: '500/3',
      rounded: 167,
    });
  });

  it('has no lines for a free request', () => {
    const billed = { ...BILLED, outcome: 'failed', cost: 0, shortfall: 0 } as const;
    expect(explainCharge(billed, NO_USAGE, undefined)).toMatchObject({ lines: [], rounded: 0 });
  });

  it.each([
    ['more', 2],
    ['less', 0],
  ])('throws when %s was charged than computed', (_, cost) => {
    const prices = { pricing: { ...FREE, request: 10n ** 12n } };
    expect(() => explainCharge({ ...BILLED, cost, shortfall: 0 }, NO_USAGE, prices)).toThrow(
      ReceiptMismatchError,
    );
  });
});
