import { useQuery } from '@tanstack/react-query';
import { api } from '../../api/client';
import type { components } from '../../api/schema';

export type Group = components['schemas']['AnalyticsGroup'];
export type Sums = components['schemas']['AnalyticsSums'];

/** What the tenant's requests add up to, by one dimension or two with a comma between. */
export function useAnalytics(
  query: { start_date: string; group_by: string; limit: number },
  enabled = true,
) {
  return useQuery({
    queryKey: ['analytics', query],
    queryFn: ({ signal }) => api.GET('/v1/customer/analytics', { params: { query }, signal }),
    // Of another time, but never of another dimension, which would have other columns.
    placeholderData: (before) => (before?.group_by === query.group_by ? before : undefined),
    enabled,
  });
}
