import { createHash } from 'node:crypto';
import type { QueryConfig } from 'pg';
import {
  FREE,
  parsePrice,
  toDecimal,
  type ExactPricing,
} from '../../../canonical/exact-pricing.js';
import { isJsonObject } from '../../../platform/http/json-body.js';
import type { PricesUsed } from '../../request-log/request-log-row.js';

/** Catalogue names of the prices. */
export const PRICE_NAMES = {
  prompt: 'prompt',
  completion: 'completion',
  request: 'request',
  image: 'image',
  cacheRead: 'input_cache_read',
  cacheWrite: 'input_cache_write',
  cacheWriteLong: 'input_cache_write_1h',
  reasoning: 'internal_reasoning',
  webSearch: 'web_search',
  audioCharacter: 'audio_character',
  audioByte: 'audio_byte',
  audioMinute: 'audio_minute',
  videoSecond: 'video_second',
} as const satisfies Record<keyof ExactPricing, string>;

const PRICES = Object.entries(PRICE_NAMES) as [keyof ExactPricing, string][];

/** Prices used by settlements. The id is a hash of the content, so a snapshot never changes. */
export interface PriceSnapshot {
  /** A UUID: the first half of the SHA-256 of `json`. */
  readonly id: string;
  /** `{prices: {<name>: <decimal USD>}, byok_fee_percent?, cached_answer?, served_as?}`, always in this order. */
  readonly json: string;
}

/** Catalogue price objects are shared by all requests, so each is serialized once. */
const snapshots = new WeakMap<ExactPricing, Map<number | undefined, PriceSnapshot>>();

export function priceSnapshotOf({ pricing, byokFeePercent, servedAs }: PricesUsed): PriceSnapshot {
  let byPercent = snapshots.get(pricing);
  if (!byPercent)
    snapshots.set(pricing, (byPercent = new Map<number | undefined, PriceSnapshot>()));
  let snapshot = byPercent.get(byokFeePercent);
  if (!snapshot)
    byPercent.set(byokFeePercent, (snapshot = createSnapshot(pricing, byokFeePercent, servedAs)));
  return snapshot;
}

function createSnapshot(
  pricing: ExactPricing,
  byokFeePercent: number | undefined,
  servedAs: string | undefined,
): PriceSnapshot {
  const json = JSON.stringify({
    prices: Object.fromEntries(PRICES.map(([key, name]) => [name, toDecimal(pricing[key])])),
    ...(byokFeePercent !== undefined && { byok_fee_percent: byokFeePercent }),
    ...(pricing === FREE && { cached_answer: true }),
    ...(servedAs !== undefined && { served_as: servedAs }),
  });
  const hex = createHash('sha256').update(json).digest('hex');
  const parts = [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20)];
  return { id: [...parts, hex.slice(20, 32)].join('-'), json };
}

/** Returns the prices in USD by name, without those that are 0. */
export function pricesInUsd(pricing: ExactPricing): Record<string, string> {
  const charged = PRICES.filter(([key]) => pricing[key] !== 0n);
  return Object.fromEntries(charged.map(([key, name]) => [name, toDecimal(pricing[key])]));
}

/** Restores prices: `FREE` itself for a cached answer; undefined when the value is not a snapshot. */
export function readPriceSnapshot(value: unknown): PricesUsed | undefined {
  if (!isJsonObject(value) || !isJsonObject(value.prices)) return undefined;
  const { prices, byok_fee_percent: percent, served_as: servedAs } = value;
  const read = (name: string): bigint | undefined => {
    const decimal = prices[name];
    return typeof decimal === 'string' ? parsePrice(decimal) : undefined;
  };
  const pricing: Record<keyof ExactPricing, bigint> = { ...FREE };
  for (const [key, name] of PRICES) {
    const price = read(name);
    if (price === undefined) return undefined;
    pricing[key] = price;
  }
  return {
    pricing: value.cached_answer === true ? FREE : pricing,
    ...(typeof percent === 'number' && { byokFeePercent: percent }),
    ...(typeof servedAs === 'string' && { servedAs }),
  };
}

/** Ids of the snapshots that a session knows to be stored. */
const stored = new WeakMap<object, Set<string>>();

/**
 * Returns the snapshots of settlements that this session does not know to be stored. They are written in
 * the same transaction, so no row refers to a missing snapshot. Tracked per session, since another one
 * may be connected to a different server that lacks the latest data after a failover.
 */
export function missingSnapshots(
  session: object,
  used: readonly (PricesUsed | undefined)[],
): PriceSnapshot[] {
  const known = stored.get(session);
  const missing = new Map<string, PriceSnapshot>();
  for (const billedBy of used) {
    const snapshot = billedBy && priceSnapshotOf(billedBy);
    if (snapshot && !known?.has(snapshot.id)) missing.set(snapshot.id, snapshot);
  }
  return [...missing.values()];
}

/** Call once a transaction of the session has committed the snapshots. */
export function markSnapshotsStored(session: object, snapshots: readonly PriceSnapshot[]): void {
  if (snapshots.length === 0) return;
  const known = stored.get(session) ?? new Set();
  for (const { id } of snapshots) known.add(id);
  stored.set(session, known);
}

/** Returns statements that store the snapshots, in id order to avoid deadlocks. */
export function storeSnapshots(missing: readonly PriceSnapshot[]): QueryConfig[] {
  return missing
    .toSorted((one, other) => (one.id < other.id ? -1 : 1))
    .map(({ id, json }) => ({
      name: 'ledger-store-price-sheet',
      text: 'INSERT INTO price_sheets (id, sheet) VALUES ($1, $2) ON CONFLICT DO NOTHING',
      values: [id, json],
    }));
}
