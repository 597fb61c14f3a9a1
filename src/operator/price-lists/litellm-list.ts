import { isJsonObject, type JsonObject } from '../../platform/http/json-body.js';
import type {
  LongPromptPrices,
  ModelKind,
  Pricing,
  VariantPrices,
} from '../../core/catalogue/catalogue.types.js';
import {
  exactPrice,
  listedModel,
  tokensIn,
  type ListedModel,
  type WholePricing,
} from './price-list.js';

const TOKEN_UNITS: Readonly<Record<string, keyof Pricing>> = {
  input_cost_per_token: 'prompt',
  output_cost_per_token: 'completion',
  cache_read_input_token_cost: 'input_cache_read',
  cache_creation_input_token_cost: 'input_cache_write',
  cache_creation_input_token_cost_above_1hr: 'input_cache_write_1h',
  output_cost_per_reasoning_token: 'internal_reasoning',
};

const KINDS: Readonly<Record<string, ModelKind>> = {
  chat: 'chat',
  responses: 'chat',
  completion: 'chat',
  embedding: 'embedding',
  audio_speech: 'speech',
  audio_transcription: 'transcription',
  image_generation: 'image',
  video_generation: 'video',
};

/** Other price units by kind, and list units per unit of ours. */
const OTHER_UNITS: Partial<Record<ModelKind, readonly [string, keyof Pricing, bigint][]>> = {
  speech: [['input_cost_per_character', 'audio_character', 1n]],
  transcription: [['input_cost_per_second', 'audio_minute', 60n]],
  image: [['output_cost_per_image', 'image', 1n]],
  video: [['output_cost_per_second', 'video_second', 1n]],
};

const TIERS: Readonly<Record<string, string>> = {
  flex: 'flex',
  priority: 'priority',
  batches: 'batch',
};
const names = Object.keys(TOKEN_UNITS).sort((one, other) => other.length - one.length);
/** Matches the unit and, in either order, a threshold in thousand tokens and a service tier. */
const FIELD = new RegExp(
  `^(${names.join('|')})(?:_(flex|priority|batches))?(?:_above_(\\d{1,5})k_tokens)?(?:_(flex|priority|batches))?$`,
);

/**
 * Returns whether the content is LiteLLM's `model_prices_and_context_window.json`: rows by name.
 */
export function isLitellmList(content: unknown): content is JsonObject {
  if (!isJsonObject(content)) return false;
  return Object.values(content).some((row) => isJsonObject(row) && 'litellm_provider' in row);
}

/** Reads prices in USD per unit. Pure. */
export function readLitellmList(content: JsonObject): ListedModel[] {
  return Object.entries(content).flatMap(([name, row]) => {
    if (!isJsonObject(row) || name === 'sample_spec') return [];
    const { litellm_provider: provider, mode } = row;
    if (typeof provider !== 'string') return [];
    const contextLength = tokensIn(row.max_input_tokens);
    const maxCompletionTokens = tokensIn(row.max_output_tokens);
    const kind = KINDS[String(mode)];
    return listedModel(
      {
        provider,
        model: withoutProvider(name, provider),
        ...(kind && { kind }),
        ...(contextLength && { contextLength }),
        ...(maxCompletionTokens && { maxCompletionTokens }),
      },
      () => readPrices(row, kind),
    );
  });
}

/** Most names start with the provider; `vertex_ai-anthropic_models` start with `vertex_ai/…`. */
function withoutProvider(name: string, provider: string): string {
  const slash = name.indexOf('/');
  return slash > 0 && provider.startsWith(name.slice(0, slash)) ? name.slice(slash + 1) : name;
}

function readPrices(row: JsonObject, kind: ModelKind | undefined): WholePricing {
  const whole: WholePricing = { pricing: {} };
  for (const [field, value] of Object.entries(row)) {
    const match = FIELD.exec(field);
    if (!match || value === null) continue;
    const [, name = '', before, thousands, behind] = match;
    const tier = before ?? behind;
    const overlay = tier === undefined ? whole : tierOf(whole, TIERS[tier] ?? tier);
    const pricing =
      thousands === undefined ? overlay.pricing : stepOf(overlay, Number(thousands) * 1_000);
    pricing[TOKEN_UNITS[name]!] = exactPrice(field, value);
  }
  const ranges = Array.isArray(row.tiered_pricing) ? row.tiered_pricing : [];
  for (const range of ranges) if (isJsonObject(range)) readRange(whole, range);
  for (const [field, unit, count] of (kind && OTHER_UNITS[kind]) ?? []) {
    const value = row[field];
    if (value === undefined || value === null) continue;
    whole.pricing[unit] = times(exactPrice(field, value), count);
  }
  sortSteps(whole);
  Object.values(whole.service_tiers ?? {}).forEach(sortSteps);
  return whole;
}

/** Reads the prices of a prompt length range, as rows of some vendors have them. */
function readRange(whole: WholePricing, { range, ...prices }: JsonObject): void {
  const above: unknown = Array.isArray(range) ? range[0] : undefined;
  if (typeof above !== 'number' || !Number.isSafeInteger(above)) return;
  const pricing = above > 0 ? stepOf(whole, above) : whole.pricing;
  for (const [field, value] of Object.entries(prices)) {
    const unit = TOKEN_UNITS[field];
    if (unit && value !== null) pricing[unit] = exactPrice(`tiered_pricing.${field}`, value);
  }
}

function tierOf(whole: WholePricing, tier: string): VariantPrices {
  whole.service_tiers ??= {};
  return (whole.service_tiers[tier] ??= { pricing: {} });
}

function stepOf(
  overlay: Pick<VariantPrices, 'long_prompts'>,
  above: number,
): LongPromptPrices['pricing'] {
  overlay.long_prompts ??= [];
  let step = overlay.long_prompts.find((one) => one.above === above);
  if (!step) overlay.long_prompts.push((step = { above, pricing: {} }));
  return step.pricing;
}

function sortSteps({ long_prompts: steps }: VariantPrices): void {
  steps?.sort((one, other) => one.above - other.above);
}

function times(price: string, count: bigint): string {
  if (count === 1n) return price;
  const [whole = '0', fraction = ''] = price.split('.');
  return exactPrice('the price', String(BigInt(whole + fraction) * count), fraction.length);
}
