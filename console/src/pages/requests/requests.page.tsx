import type { ReactNode } from 'react';
import { api } from '../../api/client';
import { FilterForm } from '../../requests/filter-form';
import { RequestDetails } from '../../requests/request-details';
import { REQUEST_FILTERS } from '../../requests/request-filters';
import { RequestList, type RequestSource } from '../../requests/request-list';
import { useFilters } from '../../shell/use-filters';
import { ButtonLink, Card, Checkbox, Drawer, Page } from '../../ui';

const SOURCE: RequestSource = {
  async page(query, signal) {
    const { logs, pagination } = await api.GET('/v1/customer/logs', { params: { query }, signal });
    return { data: logs, ...pagination };
  },
  newer: (query, signal) => api.GET('/v1/customer/logs/newer', { params: { query }, signal }),
};

/** The tenant's request log. */
export function RequestsPage(): ReactNode {
  const [filters, setFilters] = useFilters(REQUEST_FILTERS);
  const [{ open, live }, setView] = useFilters(['open', 'live']);
  return (
    <Page
      title="Requests"
      description="All requests of this tenant. A request appears once its answer has ended."
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
        onOpen={(requestId) => setView({ open: requestId })}
      />
      <Card>
        <RequestList
          name="logs"
          filters={filters}
          source={SOURCE}
          isLive={live === '1'}
          onOpen={(row) => setView({ open: row.request_id })}
        />
      </Card>
      {open !== undefined && (
        <Drawer title="Request" onClose={() => setView({ open: '' })}>
          <RequestDetails requestId={open} />
          <div className="row row-end">
            <ButtonLink to="/requests/$requestId" params={{ requestId: open }}>
              Open full page
            </ButtonLink>
          </div>
        </Drawer>
      )}
    </Page>
  );
}
