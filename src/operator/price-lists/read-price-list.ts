import { topLevelMembers } from '../../platform/http/top-level-members.js';
import { genaiVendorsOf, readGenaiPricesList } from './genai-prices-list.js';
import { isLitellmList, readLitellmList } from './litellm-list.js';
import { isModelsDevList, readModelsDevList } from './models-dev-list.js';
import { PriceList, PriceListError, type ListedModel } from './price-list.js';

/**
 * Reads a public price list of a shape that is known by its content.
 *
 * @param bytes JSON
 * @param today `YYYY-MM-DD` in UTC, by which dated prices hold or are yet to come
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
    'it is JSON, but no price list of a known shape: LiteLLM’s model_prices_and_context_window.json, the api.json of models.dev, or the data.json of genai-prices',
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
  throw new PriceListError(`it has the shape of ${name}, and not one model with a price`);
}

/** Of keys that are repeated a parser takes the last without a word. */
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
