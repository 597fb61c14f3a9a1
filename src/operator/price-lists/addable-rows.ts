import { parsePrice } from '../../canonical/exact-pricing.js';
import type { JsonObject } from '../../platform/http/json-body.js';
import { listedAs, vendorOf } from '../../vendors/vendors.js';
import type { CatalogueModel } from '../../core/catalogue/catalogue.types.js';
import type { CatalogueRows } from '../../core/catalogue/load-catalogue.js';
import type { ListedModel, PriceList } from './price-list.js';

/** Returns rows for models of supported vendors that the catalogue lacks. */
export function addableRows(
  rows: CatalogueRows,
  list: PriceList,
  known: ReadonlySet<ListedModel>,
): { id: string; row: JsonObject }[] {
  const providers = new Set([...rows.keys()].map((id) => id.split('/', 1)[0]!));
  const found = new Map<string, JsonObject>();
  for (const provider of providers) {
    const names = vendorOf(provider)?.isStandIn ? [] : listedAs(provider);
    for (const listed of list.models) {
      const id = `${provider}/${listed.model}`;
      if (!names.includes(listed.provider) || rows.has(id) || known.has(listed)) continue;
      const row = rowOf(id, listed);
      if (row && !found.has(id)) found.set(id, row);
    }
  }
  return [...found].map(([id, row]) => ({ id, row }));
}

function rowOf(id: string, listed: ListedModel): JsonObject | undefined {
  const { prices, contextLength, maxCompletionTokens, problem } = listed;
  const { prompt, completion } = prices.pricing;
  const isEmbedding = /embed/i.test(listed.model) && prompt !== undefined;
  const kind = listed.kind ?? (isEmbedding ? 'embedding' : 'chat');
  if (problem !== undefined || prompt === undefined) return undefined;
  if (kind !== 'embedding' && (kind !== 'chat' || completion === undefined)) return undefined;
  return withoutUndefined({
    id,
    ...(kind === 'embedding' && { kind }),
    context_length: contextLength,
    max_completion_tokens: maxCompletionTokens,
    ...(kind === 'chat' ? prices : { pricing: { prompt, completion: '0' } }),
  });
}

/** Returns whether the model's tokens are free. */
export function isFree({ kind, pricing }: CatalogueModel): boolean {
  return [pricing.prompt, ...(kind === 'chat' ? [pricing.completion] : [])].some(
    (price) => parsePrice(price) === 0n,
  );
}

/** Returns whether an id matches a pattern, where `*` matches anything. */
export function fits(id: string, pattern: string): boolean {
  const [first = '', ...rest] = pattern.split('*');
  if (rest.length === 0) return id === pattern;
  const last = rest.pop() ?? '';
  if (!id.startsWith(first) || !id.endsWith(last) || id.length < first.length + last.length) {
    return false;
  }
  let at = first.length;
  for (const part of rest) {
    at = id.indexOf(part, at);
    if (at < 0) return false;
    at += part.length;
  }
  return at <= id.length - last.length;
}

/** Returns a row without undefined fields. */
export function withoutUndefined(row: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(row).filter(([, value]) => value !== undefined));
}
