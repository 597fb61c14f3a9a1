import { RANGES } from '../parts/ranges';
import type { RequestFilterName, RequestFilters } from './request-filters';

/** Filters by the name before the colon. `kind` is an alias of `endpoint`. */
const NAMES: Readonly<Record<string, RequestFilterName>> = {
  model: 'model',
  provider: 'provider',
  endpoint: 'endpoint',
  kind: 'endpoint',
  key: 'api_key_id',
  tag: 'tag',
  user: 'end_user',
  status: 'status',
  tenant: 'tenant_id',
};
const UUID = /^[\da-f]{8}-(?:[\da-f]{4}-){3}[\da-f]{12}$/i;
/** `name:value`, `name:"value with spaces"`, or a bare word. */
const TERM = /(\w+):(?:"([^"]*)"|(\S*))|(\S+)/g;

export interface SearchTerms {
  filters: RequestFilters;
  /** Set if the text contains the id of a request. */
  requestId: string | undefined;
  /** Terms that could not be parsed. */
  unknown: string[];
}

/** Parses a search such as `model:a/b status:error user:"Ada L." cost:>100 last:24h`, or a request id. */
export function parseSearch(text: string): SearchTerms {
  const terms: SearchTerms = { filters: {}, requestId: undefined, unknown: [] };
  for (const [term, name, quoted, plain, word] of text.matchAll(TERM)) {
    const value = quoted ?? plain ?? '';
    const filters = name === undefined ? undefined : readTerm(name.toLowerCase(), value);
    if (filters) Object.assign(terms.filters, filters);
    else if (word !== undefined && UUID.test(word)) terms.requestId = word.toLowerCase();
    else terms.unknown.push(term);
  }
  return terms;
}

function readTerm(name: string, value: string): RequestFilters | undefined {
  if (name === 'cost') return readCost(value);
  if (name === 'last') {
    return RANGES.some(({ id }) => id === value)
      ? { range: value, start_date: '', end_date: '' }
      : undefined;
  }
  const filter = NAMES[name];
  if (filter === undefined || value === '') return undefined;
  if (filter === 'status' && value !== 'success' && value !== 'error') return undefined;
  return { [filter]: value };
}

/** Parses `>100`, `<500`, `100..500` or `100`, in credits. Bounds are inclusive. */
function readCost(value: string): RequestFilters | undefined {
  const [, sign, one, other] = /^([<>]?)(\d{1,15})(?:\.\.(\d{1,15}))?$/.exec(value) ?? [];
  if (one === undefined || (sign !== '' && other !== undefined)) return undefined;
  if (sign === '>') return { min_cost: one, max_cost: '' };
  if (sign === '<') return { min_cost: '', max_cost: one };
  return { min_cost: one, max_cost: other ?? one };
}
