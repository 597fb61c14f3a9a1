import { topLevelMembers } from '../../platform/http/top-level-members.js';
import { genaiVendorsOf, readGenaiPricesList } from './genai-prices-list.js';
import { isLitellmList, readLitellmList } from './litellm-list.js';
import { isModelsDevList, readModelsDevList } from './models-dev-list.js';
import { PriceList, PriceListError, type ListedModel } from './price-list.js';

/**
 * Parses a public price list whose format is recognized by its content.
 *
 * @param bytes JSON
 * @param today `YYYY-MM-DD` in UTC, which decides between current and future prices
 * @throws PriceListError
 */
export function readPriceList(bytes: Buffer, today: string): PriceList {
  const content = parse(bytes);
  const vendors = genaiVendorsOf(content);
  if (vendors) return listOf('genai-prices', readGenaiPricesList(vendors, today));
  if (isLitellmList(content)) {
    return listOf('LiteLLM', withRepeated(readLitellmList(content), bytes));
  }
  if (isModelsDevList(content)) return listOf('models.dev', readModelsDevList(content));
  throw new PriceListError(
    'it is JSON but not a known price list: LiteLLM’s model_prices_and_context_window.json, the api.json of models.dev, or the data.json of genai-prices',
  );
}

function parse(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString('utf8'));
  } catch (error) {
    throw new PriceListError('it is not JSON', { cause: error });
  }
}

function listOf(name: string, models: ListedModel[]): PriceList {
  if (models.length > 0) return new PriceList(name, models);
  throw new PriceListError(`it has the format of ${name} but no model with a price`);
}

/** Marks repeated keys. A JSON parser silently keeps only the last of them. */
function withRepeated(models: ListedModel[], bytes: Buffer): ListedModel[] {
  const seen = new Set<string>();
  const repeated = new Set<string>();
  for (const { key } of topLevelMembers(bytes)) {
    if (seen.has(key)) repeated.add(key);
    seen.add(key);
  }
  if (repeated.size === 0) return models;
  const problem = 'is listed twice';
  return models.map((model) =>
    repeated.has(model.model) || repeated.has(`${model.provider}/${model.model}`)
      ? { ...model, problem }
      : model,
  );
}
