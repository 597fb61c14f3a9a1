import { parsePrice } from '../../canonical/exact-pricing.js';
import type {
  LongPromptPrices,
  ModelKind,
  PriceChange,
  Pricing,
  VariantPrices,
} from '../../core/catalogue/catalogue.types.js';
import type { WholePricing } from './price-list.js';

type Units = Partial<Pricing>;
/** Prices with steps for long prompts. */
type Steps = Partial<VariantPrices>;

/** A price that differs between a list and the catalogue. */
export interface PriceMove {
  /** `prompt`, `long_prompts.200000.prompt`, `service_tiers.flex.prompt`, `price_changes.2026-12-01.prompt`. */
  readonly unit: string;
  /** USD per unit. Undefined when the catalogue has none and charges `instead`. */
  readonly before: string | undefined;
  /** The current charge for the unit, possibly at another unit's price. */
  readonly instead: string;
  readonly after: string;
  /** Why the change is not made unless accepted. */
  readonly heldBack?: string;
}

/** Changes by more than this factor need review. */
const THREEFOLD = 3n;

/** Compared units by kind. Image prices depend on sizes, which lists lack. */
const COMPARED: Readonly<Record<ModelKind, readonly (keyof Pricing)[]>> = {
  chat: [
    'prompt',
    'completion',
    'input_cache_read',
    'input_cache_write',
    'input_cache_write_1h',
    'internal_reasoning',
    'web_search',
  ],
  embedding: ['prompt'],
  speech: ['audio_character'],
  transcription: ['audio_minute'],
  image: [],
  video: ['video_second'],
};
/** Units that are not offered without a price, instead of using another unit's. */
const ONLY_WHERE_KNOWN: readonly (keyof Pricing)[] = [
  'web_search',
  'audio_character',
  'audio_minute',
  'video_second',
];
const INSTEAD: Readonly<Partial<Record<keyof Pricing, keyof Pricing>>> = {
  input_cache_read: 'prompt',
  input_cache_write: 'prompt',
  input_cache_write_1h: 'input_cache_write',
  internal_reasoning: 'completion',
};

/** Returns the charge for a unit, possibly at another unit's price. */
function chargeOf(prices: Units, unit: keyof Pricing): string | undefined {
  const other = INSTEAD[unit];
  return prices[unit] ?? (other && chargeOf(prices, other));
}

function isSame(one: string, other: string): boolean {
  return parsePrice(one) === parsePrice(other);
}

/** Returns why a change needs to be accepted; undefined when it does not. */
function holdBack(before: string, after: string): string | undefined {
  const [old, now] = [parsePrice(before) ?? 0n, parsePrice(after) ?? 0n];
  if (now === 0n) return 'it would be free';
  if (now > old * THREEFOLD || now * THREEFOLD < old) return 'it changes more than threefold';
  return undefined;
}

/**
 * Compares catalogue prices with listed ones.
 *
 * @param now current prices; not modified
 * @param accepts whether to make a change that would be held back
 * @returns the differences, and the prices with all changes that are not held back
 */
export function movesOf(
  kind: ModelKind,
  now: WholePricing,
  listed: WholePricing,
  accepts: (unit: string) => boolean,
): { moves: PriceMove[]; prices: WholePricing } {
  const moves: PriceMove[] = [];
  const prices = structuredClone(now);
  /** @param under prices that apply where the overlay has none */
  const overlay = (path: string, target: Units, under: Units, wanted: Units): void => {
    for (const unit of COMPARED[kind]) {
      const after = wanted[unit];
      const before = target[unit] ?? under[unit];
      const instead = chargeOf({ ...under, ...target }, unit);
      if (after === undefined || (before === undefined && ONLY_WHERE_KNOWN.includes(unit))) {
        continue;
      }
      if (instead !== undefined && isSame(instead, after)) continue;
      const name = path + unit;
      const reason = holdBack(instead ?? after, after);
      const isHeld = reason !== undefined && !accepts(name);
      moves.push({
        unit: name,
        before: target[unit],
        instead: instead ?? '0',
        after,
        ...(isHeld && { heldBack: reason }),
      });
      if (!isHeld) target[unit] = after;
    }
  };
  const steps = (path: string, target: Steps, under: Units, wanted: Steps): void => {
    if (kind !== 'chat') return;
    for (const step of wanted.long_prompts ?? []) {
      const known = target.long_prompts?.find((one) => isSameLength(one.above, step.above));
      const own: LongPromptPrices = known ?? { above: step.above, pricing: {} };
      const base = { ...under, ...target.pricing };
      overlay(`${path}long_prompts.${own.above}.`, own.pricing, base, step.pricing);
      if (known || Object.keys(own.pricing).length === 0) continue;
      target.long_prompts = [...(target.long_prompts ?? []), own].sort(
        (one, other) => one.above - other.above,
      );
    }
  };
  overlay('', prices.pricing, {}, listed.pricing);
  steps('', prices, {}, listed);
  for (const [tier, wanted] of Object.entries(
    kind === 'chat' ? (listed.service_tiers ?? {}) : {},
  )) {
    const own: VariantPrices = prices.service_tiers?.[tier] ?? { pricing: {} };
    const path = `service_tiers.${tier}.`;
    overlay(path, own.pricing, prices.pricing, wanted.pricing);
    steps(path, own, prices.pricing, wanted);
    if (Object.keys(own.pricing).length === 0) continue;
    prices.service_tiers = { ...prices.service_tiers, [tier]: own };
  }
  for (const wanted of listed.price_changes ?? []) {
    const day = wanted.effective_from;
    const known = prices.price_changes?.find((one) => one.effective_from === day);
    const own: PriceChange = known ?? { effective_from: day, pricing: {} };
    const path = `price_changes.${day}.`;
    const before = (prices.price_changes ?? []).filter((one) => one.effective_from < day);
    const under = before.reduce<Units>((all, one) => ({ ...all, ...one.pricing }), prices.pricing);
    own.pricing ??= {};
    overlay(path, own.pricing, under, wanted.pricing ?? {});
    if (own.long_prompts || !known) steps(path, own, under, wanted);
    if (known || Object.keys(own.pricing ?? {}).length === 0) continue;
    prices.price_changes = [...(prices.price_changes ?? []), own].sort((one, other) =>
      one.effective_from < other.effective_from ? -1 : 1,
    );
  }
  return { moves, prices };
}

/** Lists disagree on whether a bound is inclusive. */
function isSameLength(one: number, other: number): boolean {
  return Math.abs(one - other) <= 1;
}

/** Formats the factor of a change. */
export function factorOf({ instead, after }: Pick<PriceMove, 'instead' | 'after'>): string {
  const [old, now] = [parsePrice(instead) ?? 0n, parsePrice(after) ?? 0n];
  if (old === 0n) return '';
  return `×${Number((Number(now) / Number(old)).toPrecision(3))}`;
}
