import { describe, expect, it } from '@jest/globals';
import { FREE } from '../../../canonical/exact-pricing.js';
import { NO_USAGE } from '../../../canonical/usage.js';
import { isUuid } from '../../../platform/database/stored-text.js';
import { requestOptionsIn, otherUsageText, readOtherUsage } from '../../request-log/other-usage.js';
import {
  missingSnapshots,
  markSnapshotsStored,
  priceSnapshotOf,
  readPriceSnapshot,
} from './price-snapshot.js';

const PRICING = { ...FREE, prompt: 150_000_000_000n, cacheRead: 1n, completion: 10n ** 18n };

describe('price snapshots', () => {
  it('are restored unchanged', () => {
    const snapshot = priceSnapshotOf({ pricing: PRICING, byokFeePercent: 5 });
    expect(readPriceSnapshot(JSON.parse(snapshot.json))).toEqual({
      pricing: PRICING,
      byokFeePercent: 5,
    });
    expect(isUuid(snapshot.id)).toBe(true);
  });

  it('have an id derived from their content', () => {
    const { id } = priceSnapshotOf({ pricing: PRICING });
    expect(priceSnapshotOf({ pricing: { ...PRICING } }).id).toBe(id);
    expect(priceSnapshotOf({ pricing: PRICING, byokFeePercent: 0 }).id).not.toBe(id);
    expect(priceSnapshotOf({ pricing: { ...PRICING, image: 1n } }).id).not.toBe(id);
  });

  it('distinguish a cached answer from a free model', () => {
    const [cached, free] = [FREE, { ...FREE }].map((pricing) => priceSnapshotOf({ pricing }));
    expect(cached!.id).not.toBe(free!.id);
    expect(readPriceSnapshot(JSON.parse(cached!.json))?.pricing).toBe(FREE);
    expect(readPriceSnapshot(JSON.parse(free!.json))?.pricing).not.toBe(FREE);
  });

  it.each([null, {}, { prices: { prompt: '0.1' } }, { prices: { prompt: 'x' } }])(
    'are not restored from %j',
    (value) => expect(readPriceSnapshot(value)).toBeUndefined(),
  );

  it('are stored once per session', () => {
    const session = {};
    const used = [{ pricing: PRICING }, undefined, { pricing: PRICING }];
    const snapshots = missingSnapshots(session, used);
    expect(snapshots).toEqual([priceSnapshotOf({ pricing: PRICING })]);
    expect(missingSnapshots(session, used)).toEqual(snapshots);
    markSnapshotsStored(session, snapshots);
    expect(missingSnapshots(session, used)).toEqual([]);
    expect(missingSnapshots({}, used)).toEqual(snapshots);
  });
});

describe('other usage', () => {
  it('is null for an ordinary answer', () => {
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
  ] as const)('stores %s', (count) => {
    const text = otherUsageText({ ...NO_USAGE, [count]: 7 });
    expect(readOtherUsage(text)).toMatchObject({ ...readOtherUsage(null), [count]: 7 });
    expect(requestOptionsIn(text)).toBeUndefined();
  });

  it.each([NO_USAGE, { ...NO_USAGE, audioMs: 7 }])('stores request options with %j', (usage) => {
    const asked = { max_tokens: 5, order: ['a\u0000"'] };
    const text = otherUsageText(usage, asked);
    // PostgreSQL accepts no NUL. Older versions still read the counts from it.
    expect(text).not.toContain('\u0000');
    expect(requestOptionsIn(text)).toEqual(asked);
    expect(readOtherUsage(text)).toEqual(readOtherUsage(otherUsageText(usage)));
  });
});
