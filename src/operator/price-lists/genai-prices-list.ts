import { isJsonObject, type JsonObject } from '../../platform/http/json-body.js';
import { parsePrice } from '../../canonical/exact-pricing.js';
import type {
  LongPromptPrices,
  Pricing,
  VariantPrices,
} from '../../core/catalogue/catalogue.types.js';
import {
  BadPriceError,
  exactPrice,
  listedModel,
  tokensIn,
  type ListedModel,
  type WholePricing,
} from './price-list.js';

/** Price unit of each field, and the decimal shift. */
const UNITS: Readonly<Record<string, readonly [keyof Pricing, number]>> = {
  input_mtok: ['prompt', 6],
  output_mtok: ['completion', 6],
  cache_read_mtok: ['input_cache_read', 6],
  cache_write_mtok: ['input_cache_write', 6],
  cache_write_1h_mtok: ['input_cache_write_1h', 6],
  web_searches_kcount: ['web_search', 3],
};
const DAY = /^\d{4}-\d{2}-\d{2}$/;

/** Reads the `data.json` of genai-prices: a list of vendors with their models. */
export function genaiVendorsOf(content: unknown): JsonObject[] | undefined {
  const vendors = isJsonObject(content) ? content.providers : content;
  if (!Array.isArray(vendors) || vendors.length === 0) return undefined;
  const isOne = (one: unknown): one is JsonObject => isJsonObject(one) && Array.isArray(one.models);
  return vendors.every(isOne) ? vendors : undefined;
}

/**
 * Reads prices in USD per million tokens, or per thousand searches. Pure.
 * @param today `YYYY-MM-DD` in UTC: later prices are future changes
 */
export function readGenaiPricesList(vendors: readonly JsonObject[], today: string): ListedModel[] {
  return vendors.flatMap((vendor) =>
    (Array.isArray(vendor.models) ? vendor.models : []).flatMap((row: unknown) => {
      if (!isJsonObject(row)) return [];
      const contextLength = tokensIn(row.context_window);
      return listedModel(
        {
          provider: String(vendor.id),
          model: String(row.id),
          ...(contextLength && { contextLength }),
          names: (name) => isMatch(row.match, name),
        },
        () => readPrices(row.prices, today),
      );
    }),
  );
}

function readPrices(prices: unknown, today: string): WholePricing {
  if (!Array.isArray(prices)) return readUnits(prices);
  const days: { day: string; index: number; overlay: VariantPrices }[] = [];
  const hours: { index: number; overlay: VariantPrices }[] = [];
  for (const [index, entry] of prices.entries()) {
    if (!isJsonObject(entry)) throw new BadPriceError('prices has an entry that is not an object');
    const overlay = readUnits(entry.prices);
    const { constraint } = entry;
    if (!isJsonObject(constraint)) days.push({ day: '', index, overlay });
    else if (constraint.start_date === undefined) hours.push({ index, overlay });
    else if (typeof constraint.start_date === 'string' && DAY.test(constraint.start_date)) {
      days.push({ day: constraint.start_date, index, overlay });
    } else {
      const day = JSON.stringify(constraint.start_date);
      throw new BadPriceError(`constraint.start_date is ${day}, which is not a date`);
    }
  }
  days.sort((one, other) => (one.day < other.day ? -1 : 1));
  const begun = days.findLast(({ day }) => day <= today);
  if (!begun) throw new BadPriceError('prices has no entry for today');
  // The time of day is unknown here, so the highest of hourly prices applies.
  const ofHours = hours.filter(({ index }) => index > begun.index).map(({ overlay }) => overlay);
  const now = highest(begun.overlay, ofHours);
  const changes = days
    .filter(({ day }) => day > today)
    .map(({ day, overlay }) => ({ effective_from: day, ...overlay }));
  return { ...now, ...(changes.length > 0 && { price_changes: changes }) };
}

function highest(first: VariantPrices, others: readonly VariantPrices[]): VariantPrices {
  const pricing: Partial<Pricing> = { ...first.pricing };
  for (const other of others) {
    for (const [unit] of Object.values(UNITS)) {
      const price = other.pricing[unit];
      if (price === undefined) continue;
      if ((parsePrice(price) ?? 0n) > (parsePrice(pricing[unit] ?? '0') ?? 0n)) {
        pricing[unit] = price;
      }
    }
  }
  return { ...first, pricing };
}

function readUnits(prices: unknown): VariantPrices {
  if (!isJsonObject(prices)) throw new BadPriceError('prices is not an object');
  const pricing: Partial<Pricing> = {};
  const tiers: { above: number; unit: keyof Pricing; price: string }[] = [];
  for (const [field, [unit, places]] of Object.entries(UNITS)) {
    const value = prices[field];
    if (value === undefined || value === null) continue;
    if (!isJsonObject(value)) {
      pricing[unit] = exactPrice(field, value, places);
      continue;
    }
    pricing[unit] = exactPrice(`${field}.base`, value.base, places);
    for (const tier of Array.isArray(value.tiers) ? value.tiers : []) {
      const above = isJsonObject(tier) ? tokensIn(tier.start) : undefined;
      if (!isJsonObject(tier) || above === undefined) {
        throw new BadPriceError(`${field}.tiers has an entry without a start`);
      }
      tiers.push({ above, unit, price: exactPrice(`${field}.tiers`, tier.price, places) });
    }
  }
  if (tiers.length === 0) return { pricing };
  const starts = [...new Set(tiers.map(({ above }) => above))].sort((one, other) => one - other);
  const steps = starts.map((above): LongPromptPrices => {
    const step: LongPromptPrices = { above, pricing: {} };
    const begun = tiers.filter((tier) => tier.above <= above);
    begun.sort((one, other) => one.above - other.above);
    for (const { unit, price } of begun) step.pricing[unit] = price;
    return step;
  });
  return { pricing, long_prompts: steps };
}

/** Does not run regular expressions: they are third-party input and could be slow. */
function isMatch(clause: unknown, name: string): boolean {
  if (!isJsonObject(clause)) return false;
  const { equals, starts_with: start, ends_with: end, contains: part, or, and } = clause;
  if (typeof equals === 'string') return name === equals;
  if (typeof start === 'string') return name.startsWith(start);
  if (typeof end === 'string') return name.endsWith(end);
  if (typeof part === 'string') return name.includes(part);
  if (Array.isArray(or)) return or.some((one) => isMatch(one, name));
  return Array.isArray(and) && and.length > 0 && and.every((one) => isMatch(one, name));
}
