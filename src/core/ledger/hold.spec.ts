import { describe, expect, it } from '@jest/globals';
import type { BillableRequest } from '../../canonical/billable-request.js';
import type { OutputLimit, BillableRoute } from '../../canonical/billable-route.js';
import { NO_USAGE } from '../../canonical/usage.js';
import { exactPricingOf } from '../catalogue/exact-pricing-of.js';
import type { Caller } from '../access/caller.js';
import { Hold, affordableOutput, creditsFor, fitOutput } from './hold.js';
import type { CoverOperation } from './ledger-operations.js';

interface RouteOptions extends Partial<OutputLimit> {
  /** Credits a token of output. */
  price?: number;
  byokFeePercent?: number;
}

/** A route with a prompt of 100 tokens at a credit each. */
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

/** A hold of so many credits over the first route; the store grants what the test says. */
function hold(first: BillableRoute, credits: number, grant?: number) {
  const asked: unknown[] = [];
  const store = {
    cover: async ({ additional, range }: CoverOperation) => {
      asked.push({ additional, ...range });
      return grant;
    },
  };
  const request = { requestId: 'r', routes: [first] } as unknown as BillableRequest;
  const held = new Hold(store, { tenantId: 't' } as Caller, request, credits);
  held.limitOutput();
  return { asked, hold: held };
}

describe(creditsFor.name, () => {
  it.each([
    ['an open output', route(), { least: 150, range: { most: 1_100, base: 100 } }],
    ['several answers', route({ choices: 2 }), { least: 200, range: { most: 2_100, base: 100 } }],
    ["a caller's limit", route({ least: 1_000 }), { least: 1_100 }],
    ['a fee', route({ byokFeePercent: 10 }), { least: 15, range: { most: 110, base: 10 } }],
  ])('says what a hold comes to for %s', (_, planned, expected) => {
    expect(creditsFor(planned)).toEqual(expected);
    expect(creditsFor(planned)).toEqual(expected);
  });

  it('knows work that is no text', () => {
    expect(creditsFor({ ...route(), output: undefined })).toEqual({ least: 150 });
  });
});

describe(affordableOutput.name, () => {
  it('is what credits pay for beside the prompt, and leaves the route as it was', () => {
    const planned = route({ choices: 3 });
    expect([99, 100, 105, 700].map((credits) => affordableOutput(planned, credits))).toEqual([
      -1, 0, 1, 200,
    ]);
    expect(planned.ceiling.outputTokens).toBe(150);
  });
});

describe(fitOutput.name, () => {
  it.each([
    ['an open output', route({ fitting: 400 }), { least: 50, most: 600, tokens: 400 }],
    ["a caller's limit", route({ least: 1_000 }), { least: 600, most: 600, tokens: 600 }],
  ])('makes of %s what the credits pay for, and has every vendor told', (_, planned, expected) => {
    expect(fitOutput(planned, 700, 1)).toBe(true);
    expect(creditsFor(planned).range?.most ?? creditsFor(planned).least).toBe(700);
    const { hold: held } = hold(planned, 700);
    expect(planned.output).toMatchObject({ ...expected, isShort: true });
    expect(held.credits).toBe(700);
  });

  it('leaves a route alone that has no output, or for whose shortest the credits do not reach', () => {
    const short = route();
    expect(fitOutput(short, 115, 16)).toBe(false);
    expect(short).toEqual(route());
    expect(fitOutput({ ...route(), output: undefined }, 700, 1)).toBe(false);
  });
});

describe(Hold.name, () => {
  it.each([
    ['all of the longest answer', 1_100, { tokens: 1_000, isShort: false }, 1_000],
    ['what the credits pay for', 700, { tokens: 600, isShort: true }, 600],
    ['the least', 150, { tokens: 50, isShort: true }, 50],
  ])('makes the output of the first route %s', (_, credits, output, outputTokens) => {
    const first = route();
    hold(first, credits);
    expect(first).toMatchObject({ output, ceiling: { inputTokens: 100, outputTokens } });
  });

  it('has vendors told no more than fits into the context', () => {
    const [rich, poor] = [route({ fitting: 400 }), route({ fitting: 400 })];
    hold(rich, 1_100);
    hold(poor, 700);
    expect(rich).toMatchObject({ output: { tokens: 400, isShort: false } });
    expect(poor).toMatchObject({
      output: { tokens: 400, isShort: true },
      ceiling: { outputTokens: 400 },
    });
  });

  it("leaves the caller's own limit alone", () => {
    const first = route({ least: 1_000, tokens: 5_000 });
    hold(first, 1_100);
    expect(first).toMatchObject({
      output: { tokens: 5_000, isShort: false },
      ceiling: { outputTokens: 1_000 },
    });
  });

  it('covers a route that is no dearer without a word', async () => {
    const made = hold(route(), 1_100);
    const next = route({ most: 800 });
    expect(await made.hold.cover(next)).toBe(true);
    expect(next).toMatchObject({ output: { tokens: 800, isShort: false } });
    expect(made.asked).toEqual([]);
  });

  it('shortens the output of a dearer route where the credits had set a limit before', async () => {
    const made = hold(route(), 700);
    const next = route({ price: 3 });
    expect(await made.hold.cover(next)).toBe(true);
    expect(next).toMatchObject({
      output: { tokens: 200, isShort: true },
      ceiling: { outputTokens: 200 },
    });
    expect(made.asked).toEqual([]);
    expect(made.hold.credits).toBe(700);
  });

  it('grows for the least of a dearer route', async () => {
    const made = hold(route(), 150, 100);
    const next = route({ price: 3 });
    expect(await made.hold.cover(next)).toBe(true);
    expect(made.asked).toEqual([{ additional: 100, most: 3_100, base: 100, held: 150 }]);
    expect(made.hold.credits).toBe(250);
    expect(next).toMatchObject({ output: { tokens: 50, isShort: true } });
  });

  it('grows for all of a dearer route where there was no limit before', async () => {
    const made = hold(route(), 1_100, 2_000);
    const next = route({ price: 3 });
    expect(await made.hold.cover(next)).toBe(true);
    expect(made.hold.credits).toBe(3_100);
    expect(next).toMatchObject({ output: { tokens: 1_000, isShort: false } });
  });

  it('skips a route whose least does not fit, and keeps what it has', async () => {
    for (const next of [route({ price: 9 }), route({ price: 9, least: 1_000 })]) {
      const made = hold(route(), 150);
      expect(await made.hold.cover(next)).toBe(false);
      expect(made.hold.credits).toBe(150);
    }
  });
});
