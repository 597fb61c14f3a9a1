import { describe, expect, it } from '@jest/globals';
import type { BillableRequest } from '../../canonical/billable-request.js';
import type { OutputLimit, BillableRoute } from '../../canonical/billable-route.js';
import { NO_USAGE } from '../../canonical/usage.js';
import { exactPricingOf } from '../catalogue/exact-pricing-of.js';
import type { Caller } from '../access/caller.js';
import { Hold, affordableOutput, creditsFor, fitOutput, limitOutput } from './hold.js';
import type { CoverOperation } from './ledger-operations.js';

interface RouteOptions extends Partial<OutputLimit> {
  /** Credits per token of output. */
  price?: number;
  byokFeePercent?: number;
}

/** A route with a prompt of 100 tokens at one credit each. */
function route({ price = 1, byokFeePercent, ...output }: RouteOptions = {}): BillableRoute {
  const { choices = 1, least = 50 } = output;
  return {
    model: 'a/b',
    provider: 'a',
    catalogueId: 'a/b',
    pricing: exactPricingOf({ prompt: '0.000001', completion: (price / 1e6).toFixed(6) }),
    trafficMode: byokFeePercent === undefined ? 'shared' : 'byok',
    ...(byokFeePercent !== undefined && { byokFeePercent }),
    ceiling: { ...NO_USAGE, inputTokens: 100, outputTokens: least * choices },
    output: {
      choices,
      least,
      most: 1_000,
      fitting: 9_999,
      tokens: least,
      isShort: false,
      ...output,
    },
  };
}

/** A hold of `credits` whose store grants `grant` to covers, with the covers it receives. */
function hold(first: BillableRoute, credits: number, grant?: number) {
  const covers: unknown[] = [];
  const store = {
    cover: async ({ additional, range }: CoverOperation) => {
      covers.push({ additional, ...range });
      return grant;
    },
  };
  const request = { requestId: 'r', routes: [first] } as unknown as BillableRequest;
  const held = new Hold(store, { tenantId: 't' } as Caller, request, credits);
  held.limitOutput();
  return { covers, hold: held };
}

describe(creditsFor.name, () => {
  it.each([
    ['an unlimited output', route(), { least: 150, range: { most: 1_100, base: 100 } }],
    ['several answers', route({ choices: 2 }), { least: 200, range: { most: 2_100, base: 100 } }],
    ["a caller's limit", route({ least: 1_000 }), { least: 1_100 }],
    ['a BYOK fee', route({ byokFeePercent: 10 }), { least: 15, range: { most: 110, base: 10 } }],
  ])('returns the size of a hold for %s', (_, planned, expected) => {
    expect(creditsFor(planned)).toEqual(expected);
  });

  it('returns a fixed size without generated text', () => {
    expect(creditsFor({ ...route(), output: undefined })).toEqual({ least: 150 });
  });
});

describe(affordableOutput.name, () => {
  it('returns what credits pay for after the prompt', () => {
    const planned = route({ choices: 3 });
    expect([99, 100, 105, 700].map((credits) => affordableOutput(planned, credits))).toEqual([
      -1, 0, 1, 200,
    ]);
  });
});

describe('pricing functions', () => {
  it('leave the route unchanged', () => {
    for (const planned of [route(), route({ least: 1_000 }), route({ isFitted: true })]) {
      const before = structuredClone(planned);
      creditsFor(planned);
      affordableOutput(planned, 700);
      fitOutput(planned, 700, 1);
      limitOutput(planned, 700);
      expect(planned).toEqual(before);
    }
  });
});

describe(fitOutput.name, () => {
  it.each([
    ['an unlimited output', route({ fitting: 400 }), { least: 50, most: 600, tokens: 400 }],
    ["a caller's limit", route({ least: 1_000 }), { least: 600, most: 600, tokens: 600 }],
  ])('caps %s at what the credits pay for, also after the hold', (_, planned, expected) => {
    Object.assign(planned, fitOutput(planned, 700, 1));
    expect(creditsFor(planned).range?.most ?? creditsFor(planned).least).toBe(700);
    const { hold: held } = hold(planned, 700);
    expect(planned.output).toMatchObject({ ...expected, isShort: true });
    expect(held.credits).toBe(700);
  });

  it('returns undefined without an output, or when the shortest one is unaffordable', () => {
    expect(fitOutput(route(), 115, 16)).toBeUndefined();
    expect(fitOutput({ ...route(), output: undefined }, 700, 1)).toBeUndefined();
  });
});

describe(Hold.name, () => {
  it.each([
    ['the longest answer', 1_100, { tokens: 1_000, isShort: false }, 1_000],
    ['what the credits pay for', 700, { tokens: 600, isShort: true }, 600],
    ['the minimum', 150, { tokens: 50, isShort: true }, 50],
  ])('limits the output of the first route to %s', (_, credits, output, outputTokens) => {
    const first = route();
    hold(first, credits);
    expect(first).toMatchObject({ output, ceiling: { inputTokens: 100, outputTokens } });
  });

  it('sends vendors no limit beyond the context window', () => {
    const [rich, poor] = [route({ fitting: 400 }), route({ fitting: 400 })];
    hold(rich, 1_100);
    hold(poor, 700);
    expect(rich).toMatchObject({ output: { tokens: 400, isShort: false } });
    expect(poor).toMatchObject({
      output: { tokens: 400, isShort: true },
      ceiling: { outputTokens: 400 },
    });
  });

  it("keeps the caller's own limit", () => {
    const first = route({ least: 1_000, tokens: 5_000 });
    hold(first, 1_100);
    expect(first).toMatchObject({
      output: { tokens: 5_000, isShort: false },
      ceiling: { outputTokens: 1_000 },
    });
  });

  it('covers a route that costs no more without growing', async () => {
    const made = hold(route(), 1_100);
    const next = route({ most: 800 });
    expect(await made.hold.cover(next)).toBe(true);
    expect(next).toMatchObject({ output: { tokens: 800, isShort: false } });
    expect(made.covers).toEqual([]);
  });

  it('shortens the output of a more expensive route when credits already limited it', async () => {
    const made = hold(route(), 700);
    const next = route({ price: 3 });
    expect(await made.hold.cover(next)).toBe(true);
    expect(next).toMatchObject({
      output: { tokens: 200, isShort: true },
      ceiling: { outputTokens: 200 },
    });
    expect(made.covers).toEqual([]);
    expect(made.hold.credits).toBe(700);
  });

  it('grows to the minimum of a more expensive route', async () => {
    const made = hold(route(), 150, 100);
    const next = route({ price: 3 });
    expect(await made.hold.cover(next)).toBe(true);
    expect(made.covers).toEqual([{ additional: 100, most: 3_100, base: 100, held: 150 }]);
    expect(made.hold.credits).toBe(250);
    expect(next).toMatchObject({ output: { tokens: 50, isShort: true } });
  });

  it('grows to the longest answer of a more expensive route without an earlier limit', async () => {
    const made = hold(route(), 1_100, 2_000);
    const next = route({ price: 3 });
    expect(await made.hold.cover(next)).toBe(true);
    expect(made.hold.credits).toBe(3_100);
    expect(next).toMatchObject({ output: { tokens: 1_000, isShort: false } });
  });

  it('skips a route whose minimum does not fit, unchanged', async () => {
    for (const next of [route({ price: 9 }), route({ price: 9, least: 1_000 })]) {
      const made = hold(route(), 150);
      expect(await made.hold.cover(next)).toBe(false);
      expect(made.hold.credits).toBe(150);
    }
  });
});
