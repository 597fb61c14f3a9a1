import { startOfRange } from '../parts/ranges';

/** Filters of a request list, as named in the URL. */
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

/** The filters as API parameters. */
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

/**
 * Converts filters to API parameters and drops invalid values.
 *
 * @param now end of relative time ranges
 */
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
