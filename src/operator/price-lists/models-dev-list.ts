import { isJsonObject, type JsonObject } from '../../platform/http/json-body.js';
import type { LongPromptPrices, Pricing } from '../../core/catalogue/catalogue.types.js';
import {
  BadPriceError,
  exactPrice,
  listedModel,
  tokensIn,
  type ListedModel,
  type WholePricing,
} from './price-list.js';

const UNITS: Readonly<Record<string, keyof Pricing>> = {
  input: 'prompt',
  output: 'completion',
  cache_read: 'input_cache_read',
  cache_write: 'input_cache_write',
  reasoning: 'internal_reasoning',
};
const PER_MILLION = 6;
const OVER_200K = 200_000;

/** Returns whether the content is the `api.json` of models.dev: vendors and models by id. */
export function isModelsDevList(content: unknown): content is JsonObject {
  if (!isJsonObject(content)) return false;
  const vendors = Object.values(content);
  return (
    vendors.length > 0 && vendors.every((one) => isJsonObject(one) && isJsonObject(one.models))
  );
}

/** Reads prices in USD per million tokens and skips models without prices. Pure. */
export function readModelsDevList(content: JsonObject): ListedModel[] {
  return Object.entries(content).flatMap(([provider, vendor]) => {
    const models = isJsonObject(vendor) && isJsonObject(vendor.models) ? vendor.models : {};
    return Object.entries(models).flatMap(([model, row]) => {
      if (!isJsonObject(row) || !isJsonObject(row.cost)) return [];
      const { cost, limit } = row;
      const limits = isJsonObject(limit) ? limit : {};
      const contextLength = tokensIn(limits.context);
      const maxCompletionTokens = tokensIn(limits.output);
      return listedModel(
        {
          provider,
          model,
          ...(contextLength && { contextLength }),
          ...(maxCompletionTokens && { maxCompletionTokens }),
        },
        () => readPrices(cost),
      );
    });
  });
}

function readPrices(cost: JsonObject): WholePricing {
  const { context_over_200k: over200k, tiers } = cost;
  const steps: LongPromptPrices[] = [];
  // The list repeats the first tier under an older name.
  if (Array.isArray(tiers)) steps.push(...tiers.map(readStep));
  else if (isJsonObject(over200k)) {
    steps.push({ above: OVER_200K, pricing: readUnits(over200k, 'cost.context_over_200k.') });
  }
  steps.sort((one, other) => one.above - other.above);
  return {
    pricing: readUnits(cost, 'cost.'),
    ...(steps.length > 0 && { long_prompts: steps }),
  };
}

function readStep(step: unknown): LongPromptPrices {
  const tier = isJsonObject(step) ? step.tier : undefined;
  const above = isJsonObject(tier) ? tokensIn(tier.size) : undefined;
  if (!isJsonObject(step) || above === undefined) {
    throw new BadPriceError('cost.tiers has an entry without a tier.size');
  }
  return { above, pricing: readUnits(step, 'cost.tiers.') };
}

function readUnits(prices: JsonObject, path: string): Partial<Pricing> {
  const pricing: Partial<Pricing> = {};
  for (const [name, unit] of Object.entries(UNITS)) {
    const value = prices[name];
    if (value === undefined || value === null) continue;
    pricing[unit] = exactPrice(path + name, value, PER_MILLION);
  }
  return pricing;
}
