import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { api } from '../../api/client';
import { FilterForm } from '../../requests/filter-form';
import { RequestDetails } from '../../requests/request-details';
import { REQUEST_FILTERS } from '../../requests/request-filters';
import { RequestList, type RequestSource } from '../../requests/request-list';
import { useFilters } from '../../shell/use-filters';
import { Card, Checkbox, Drawer, Page } from '../../ui';

const SOURCE: RequestSource = {
  page: (query, signal) => api.GET('/v1/admin/logs', { params: { query }, signal }),
  newer: (query, signal) => api.GET('/v1/admin/logs/newer', { params: { query }, signal }),
};

/** The request log of all tenants. */
export function OperatorLogsPage(): ReactNode {
  const [filters, setFilters] = useFilters(REQUEST_FILTERS);
  const [{ open, of, live }, setView] = useFilters(['open', 'of', 'live']);
  const tenants = useQuery({
    queryKey: ['tenant-names'],
    queryFn: ({ signal }) =>
      api.GET('/v1/admin/tenants', { params: { query: { limit: 200 } }, signal }),
    staleTime: 60_000,
  });
  const nameTenant = (id: string) =>
    tenants.data?.data.find((tenant) => tenant.id === id)?.name ?? id.slice(0, 8);
  return (
    <Page
      title="Requests of all tenants"
      description="The request log across tenants. Archived months load slowly."
      actions={
        <Checkbox
          label="Live"
          checked={live === '1'}
          onChange={(isOn) => setView({ live: isOn ? '1' : '' })}
        />
      }
    >
      <FilterForm
        filters={filters}
        onChange={setFilters}
        overTenants
        tenants={tenants.data?.data}
      />
      <Card>
        <RequestList
          name="admin-logs"
          filters={filters}
          source={SOURCE}
          isLive={live === '1'}
          nameTenant={nameTenant}
          onOpen={(row) => setView({ open: row.request_id, of: row.tenant_id ?? '' })}
        />
      </Card>
      {open !== undefined && (
        <Drawer
          title={of === undefined ? 'Request' : `Request of ${nameTenant(of)}`}
          onClose={() => setView({ open: '', of: '' })}
        >
          {of !== undefined && <RequestDetails requestId={open} tenantId={of} />}
        </Drawer>
      )}
    </Page>
  );
}
