import { useQuery } from '@tanstack/react-query';
import { api } from '../../api/client';
import type { components } from '../../api/schema';

export type Group = components['schemas']['AnalyticsGroup'];
export type Sums = components['schemas']['AnalyticsSums'];

/** Sums the tenant's requests by one dimension, or two separated by a comma. */
export function useAnalytics(
  query: { start_date: string; group_by: string; limit: number },
  enabled = true,
) {
  return useQuery({
    queryKey: ['analytics', query],
    queryFn: ({ signal }) => api.GET('/v1/customer/analytics', { params: { query }, signal }),
    // Keeps data of another time range, but not of other dimensions, whose columns differ.
    placeholderData: (before) => (before?.group_by === query.group_by ? before : undefined),
    enabled,
  });
}
