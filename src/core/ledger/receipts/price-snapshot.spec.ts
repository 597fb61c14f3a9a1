import { describe, expect, it } from '@jest/globals';
import { FREE } from '../../../canonical/exact-pricing.js';
import { NO_USAGE } from '../../../canonical/usage.js';
import { isUuid } from '../../../platform/database/stored-text.js';
import { askedIn, otherUsageText, readOtherUsage } from '../../request-log/other-usage.js';
import { missingSheets, noteSheets, priceSnapshotOf, readPriceSheet } from './price-snapshot.js';

const PRICING = { ...FREE, prompt: 150_000_000_000n, cacheRead: 1n, completion: 10n ** 18n };

describe('price sheets', () => {
  it('are read back as they were', () => {
    const sheet = priceSnapshotOf({ pricing: PRICING, byokFeePercent: 5 });
    expect(readPriceSheet(JSON.parse(sheet.json))).toEqual({
      pricing: PRICING,
      byokFeePercent: 5,
    });
    expect(isUuid(sheet.id)).toBe(true);
  });

  it('are named after what is in them', () => {
    const { id } = priceSnapshotOf({ pricing: PRICING });
    expect(priceSnapshotOf({ pricing: { ...PRICING } }).id).toBe(id);
    expect(priceSnapshotOf({ pricing: PRICING, byokFeePercent: 0 }).id).not.toBe(id);
    expect(priceSnapshotOf({ pricing: { ...PRICING, image: 1n } }).id).not.toBe(id);
  });

  it('tell a cached answer from a model that costs nothing', () => {
    const [cached, free] = [FREE, { ...FREE }].map((pricing) => priceSnapshotOf({ pricing }));
    expect(cached!.id).not.toBe(free!.id);
    expect(readPriceSheet(JSON.parse(cached!.json))?.pricing).toBe(FREE);
    expect(readPriceSheet(JSON.parse(free!.json))?.pricing).not.toBe(FREE);
  });

  it.each([null, {}, { prices: { prompt: '0.1' } }, { prices: { prompt: 'x' } }])(
    'are not read of %j',
    (value) => expect(readPriceSheet(value)).toBeUndefined(),
  );

  it('are written once a session, and once a transaction', () => {
    const session = {};
    const used = [{ pricing: PRICING }, undefined, { pricing: PRICING }];
    const sheets = missingSheets(session, used);
    expect(sheets).toEqual([priceSnapshotOf({ pricing: PRICING })]);
    expect(missingSheets(session, used)).toEqual(sheets);
    noteSheets(session, sheets);
    expect(missingSheets(session, used)).toEqual([]);
    expect(missingSheets({}, used)).toEqual(sheets);
  });
});

describe('other usage', () => {
  it('is nothing for an ordinary answer', () => {
    expect(otherUsageText(Object.assign({ inputTokens: 5 }, NO_USAGE))).toBeNull();
  });

  it.each([
    'cacheWriteLongTokens',
    'webSearches',
    'inputCharacters',
    'inputBytes',
    'audioMs',
    'imageCount',
    'videoSeconds',
  ] as const)('keeps %s', (count) => {
    const text = otherUsageText({ ...NO_USAGE, [count]: 7 });
    expect(readOtherUsage(text)).toMatchObject({ ...readOtherUsage(null), [count]: 7 });
    expect(askedIn(text)).toBeUndefined();
  });

  it.each([NO_USAGE, { ...NO_USAGE, audioMs: 7 }])('has what was asked beside %j', (usage) => {
    const asked = { max_tokens: 5, order: ['a\u0000"'] };
    const text = otherUsageText(usage, asked);
    // PostgreSQL takes no NUL, and a version of before reads its counts of it.
    expect(text).not.toContain('\u0000');
    expect(askedIn(text)).toEqual(asked);
    expect(readOtherUsage(text)).toEqual(readOtherUsage(otherUsageText(usage)));
  });
});
