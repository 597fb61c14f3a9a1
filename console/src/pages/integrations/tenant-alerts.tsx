import type { ReactNode } from 'react';
import { api } from '../../api/client';
import type { AlertSource } from '../../parts/alerts/alert-source';
import { Alerts } from '../../parts/alerts/alerts';
import { useSession } from '../../session/session';

const SOURCE: Omit<AlertSource, 'mayChange'> = {
  owner: 'tenant',
  list: (signal) => api.GET('/v1/customer/alerts', { signal }),
  events: (query, signal) => api.GET('/v1/customer/alert-events', { params: { query }, signal }),
  create: (body) => api.POST('/v1/customer/alerts', { body }),
  update: (id, body) => api.PATCH('/v1/customer/alerts/{id}', { params: { path: { id } }, body }),
  remove: (id) => api.DELETE('/v1/customer/alerts/{id}', { params: { path: { id } } }),
  test: (id) => api.POST('/v1/customer/alerts/{id}/test', { params: { path: { id } } }),
};

/** The tenant's alerts. */
export function TenantAlerts(): ReactNode {
  const { can } = useSession();
  return <Alerts source={{ ...SOURCE, mayChange: can('develop') }} />;
}
