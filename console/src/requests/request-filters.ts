import { startOfRange } from '../parts/ranges';

/** What a list of requests is narrowed down by, as the URL has it. */
export const REQUEST_FILTERS = [
  'model',
  'provider',
  'endpoint',
  'api_key_id',
  'tag',
  'end_user',
  'status',
  'min_cost',
  'max_cost',
  'range',
  'start_date',
  'end_date',
  'tenant_id',
] as const;
export type RequestFilterName = (typeof REQUEST_FILTERS)[number];
export type RequestFilters = Partial<Record<RequestFilterName, string>>;

/** The filters as parameters of the API. What the URL says wrongly is left out, or refused by the API. */
export interface RequestQuery {
  model?: string;
  provider?: string;
  endpoint?: string;
  api_key_id?: string;
  tag?: string[];
  end_user?: string;
  status?: 'success' | 'error';
  min_cost?: number;
  max_cost?: number;
  start_date?: string;
  end_date?: string;
  tenant_id?: string;
}

/** @param now what ranges are counted back from */
export function toRequestQuery(filters: RequestFilters, now: Date): RequestQuery {
  const { model, provider, endpoint, api_key_id, tag, end_user, status, tenant_id } = filters;
  const rangeStart = startOfRange(filters.range, now);
  const query: RequestQuery = {
    model,
    provider,
    endpoint,
    api_key_id,
    tag: tag === undefined ? undefined : [tag],
    end_user,
    status: status === 'success' || status === 'error' ? status : undefined,
    min_cost: toCredits(filters.min_cost),
    max_cost: toCredits(filters.max_cost),
    start_date: rangeStart ?? filters.start_date,
    end_date: rangeStart === undefined ? filters.end_date : undefined,
    tenant_id,
  };
  return Object.fromEntries(Object.entries(query).filter(([, value]) => value !== undefined));
}

function toCredits(text: string | undefined): number | undefined {
  return text !== undefined && /^\d{1,15}$/.test(text) ? Number(text) : undefined;
}
