import { describe, expect, it } from '@jest/globals';
import { FREE } from '../../canonical/exact-pricing.js';
import { NO_USAGE, type Usage } from '../../canonical/usage.js';
import { capUsage, fillUsage } from './plausible-usage.js';
import type { BillableRoute, UsageBounds } from '../../canonical/billable-route.js';

const used = (fields: Partial<Usage>): Usage => ({ ...NO_USAGE, ...fields });

function routeOf(bounds: UsageBounds | undefined, audioMinute = 0n): BillableRoute {
  return { bounds, pricing: { ...FREE, audioMinute } } as BillableRoute;
}

describe(fillUsage.name, () => {
  const estimate = used({ inputTokens: 9, outputTokens: 7 });

  it('leaves complete figures unchanged', () => {
    const reported = used({ inputTokens: 3, outputTokens: 4 });
    expect(fillUsage(reported, 'upstream', () => estimate)).toEqual({
      usage: reported,
      source: 'upstream',
    });
  });

  it('estimates output that was received but not counted', () => {
    expect(fillUsage(used({ inputTokens: 3 }), 'upstream', () => estimate)).toEqual({
      usage: used({ inputTokens: 3, outputTokens: 7 }),
      source: 'estimated',
    });
  });

  it('estimates a prompt that was sent but not counted', () => {
    expect(fillUsage(used({ outputTokens: 4 }), 'upstream', () => estimate)).toEqual({
      usage: used({ inputTokens: 9, outputTokens: 4 }),
      source: 'estimated',
    });
  });

  it('accepts a prompt that came entirely from the cache', () => {
    const reported = used({ inputTokens: 5, cacheReadTokens: 5, outputTokens: 4 });
    expect(fillUsage(reported, 'upstream', () => estimate).source).toBe('upstream');
  });

  it('adds nothing when nothing was sent or generated', () => {
    const silent = fillUsage(used({ inputTokens: 3 }), 'upstream', () => used({ inputTokens: 9 }));
    expect(silent.source).toBe('upstream');
    expect(fillUsage(NO_USAGE, 'upstream', () => NO_USAGE)).toEqual({
      usage: NO_USAGE,
      source: 'upstream',
    });
  });
});

describe(capUsage.name, () => {
  const text = { inputTokens: 1_000, outputTokens: 100, webSearches: 100 };

  it.each([undefined, {}, text])('returns usage within %j unchanged', (bounds) => {
    const usage = used({ inputTokens: 1_000, outputTokens: 100, cacheReadTokens: 1_000 });
    const capped = capUsage(usage, 'upstream', routeOf(bounds));
    expect(capped).toEqual({ usage, source: 'upstream', cappedFields: undefined });
    expect(capped.usage).toBe(usage);
  });

  it('caps totals and their parts', () => {
    const usage = used({
      inputTokens: 5_000,
      cacheReadTokens: 900,
      cacheWriteTokens: 4_000,
      cacheWriteLongTokens: 3_000,
      outputTokens: 1_000_000_000,
      reasoningTokens: 999_999,
    });
    expect(capUsage(usage, 'upstream', routeOf(text))).toEqual({
      usage: used({
        inputTokens: 1_000,
        cacheReadTokens: 900,
        cacheWriteTokens: 100,
        cacheWriteLongTokens: 100,
        outputTokens: 100,
        reasoningTokens: 100,
      }),
      source: 'upstream',
      cappedFields: ['inputTokens', 'outputTokens'],
    });
  });

  it('allows one more context per search', () => {
    const usage = used({ inputTokens: 3_000, webSearches: 2 });
    expect(capUsage(usage, 'upstream', routeOf(text)).cappedFields).toBeUndefined();
    expect(
      capUsage({ ...usage, inputTokens: 3_001 }, 'upstream', routeOf(text)).usage.inputTokens,
    ).toBe(3_000);
  });

  it('caps searches at what one answer can run', () => {
    const { usage, cappedFields } = capUsage(
      used({ inputTokens: 1_000_000, webSearches: 1_000_000 }),
      'upstream',
      routeOf(text),
    );
    expect(usage).toMatchObject({ inputTokens: 101_000, webSearches: 100 });
    expect(cappedFields).toEqual(['webSearches', 'inputTokens']);
  });

  it('allows neither searches nor their input when none was requested', () => {
    const { usage } = capUsage(
      used({ inputTokens: 1_000_000, webSearches: 7 }),
      'upstream',
      routeOf({ ...text, webSearches: 0 }),
    );
    expect(usage).toMatchObject({ inputTokens: 1_000, webSearches: 0 });
  });

  it('caps video at its bound', () => {
    const route = routeOf({ videoSeconds: 16 });
    const capped = capUsage(used({ videoSeconds: 86_400 }), 'upstream', route);
    expect(capped).toMatchObject({
      usage: { videoSeconds: 16 },
      cappedFields: ['videoSeconds'],
    });
  });

  it.each([
    ['half of the measured length', 30_000, 30_000, 'upstream', undefined],
    ['less than half', 29_999, 60_000, 'estimated', ['audioMs']],
    ['nothing, such as tokens', 0, 60_000, 'estimated', ['audioMs']],
    ['twice and ten seconds', 130_000, 130_000, 'upstream', undefined],
    ['more', 604_800_000, 130_000, 'upstream', ['audioMs']],
  ] as const)('checks a length of %s against the measured one', (...expected) => {
    const [, audioMs, charged, source, cappedFields] = expected;
    const route = routeOf({ measuredAudioMs: 60_000 }, 1n);
    expect(capUsage(used({ audioMs }), 'upstream', route)).toEqual({
      usage: used({ audioMs: charged }),
      source,
      cappedFields,
    });
  });

  it('caps generated audio at what its text can last', () => {
    const route = routeOf({ spokenAudioMs: 71_200 }, 1n);
    expect(capUsage(used({ audioMs: 71_200 }), 'upstream', route).cappedFields).toBeUndefined();
    expect(capUsage(used({ audioMs: 604_800_000 }), 'estimated', route)).toEqual({
      usage: used({ audioMs: 71_200 }),
      source: 'estimated',
      cappedFields: ['audioMs'],
    });
  });

  it('accepts a length beyond the file’s own metadata, up to what its bytes allow', () => {
    const route = routeOf({ measuredAudioMs: 60_000, longestAudioMs: 4_000_000 }, 1n);
    for (const [audioMs, charged] of [
      [3_600_000, 3_600_000],
      [4_000_001, 4_000_000],
      [29_999, 60_000],
    ] as const) {
      const { usage } = capUsage(used({ audioMs }), 'upstream', route);
      expect(usage.audioMs).toBe(charged);
    }
  });

  it('requires no length when tokens are billed', () => {
    const usage = used({ inputTokens: 5 });
    const route = routeOf({ measuredAudioMs: 60_000 });
    expect(capUsage(usage, 'upstream', route)).toMatchObject({ usage, source: 'upstream' });
  });
});
