import { useQuery } from '@tanstack/react-query';
import { api } from '../../api/client';

const POLL_MS = 2_000;
const NEWEST = 50;

/** Polls the API data that decides which steps are done. */
export function useKnown() {
  const logs = useQuery({
    queryKey: ['logs', 'welcome'],
    queryFn: ({ signal }) =>
      api.GET('/v1/customer/logs', { params: { query: { limit: NEWEST } }, signal }),
    refetchInterval: POLL_MS,
  });
  const keys = useQuery({
    queryKey: ['api-keys'],
    queryFn: ({ signal }) => api.GET('/v1/customer/api-keys', { signal }),
    refetchInterval: POLL_MS * 2,
  });
  const models = useQuery({
    queryKey: ['models'],
    queryFn: ({ signal }) =>
      api.GET('/v1/models', { params: { query: { include_routes: 'true' } }, signal }),
  });
  return {
    logs: logs.data?.logs,
    keys: keys.data?.data,
    models: models.data?.data,
    error: logs.error ?? keys.error ?? models.error,
  };
}

export type KnownHere = ReturnType<typeof useKnown>;
