import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { api } from '../../api/client';
import { useCursorList } from '../../api/queries';
import { shortId } from '../../format/ids';
import type { components } from '../../api/schema';
import { ENTRY_KINDS } from '../../parts/entry-kinds';
import { useFilters } from '../../shell/use-filters';
import {
  Badge,
  Card,
  FilterSelect,
  Credits,
  EmptyState,
  MoreButton,
  PagedTable,
  Time,
  type Column,
} from '../../ui';

type Entry = components['schemas']['LedgerEntry'];

const columnsOf = (tenantId: string): Column<Entry>[] => [
  { header: 'Time', cell: ({ created_at }) => <Time at={created_at} /> },
  { header: 'Kind', cell: ({ kind }) => <Badge tone="neutral">{kind}</Badge> },
  { header: 'Amount', align: 'end', cell: ({ amount }) => <Credits value={amount} /> },
  { header: 'Memo', cell: ({ memo }) => memo ?? '–' },
  {
    header: 'Request',
    wide: true,
    cell: ({ request_id }) =>
      request_id === null ? (
        '–'
      ) : (
        <Link
          className="mono"
          to="/operator-logs"
          search={{ open: request_id, of: tenantId }}
          title={request_id}
        >
          {shortId(request_id)}
        </Link>
      ),
  },
];

/** The tenant's ledger entries, newest first. */
export function TenantEntries({ tenantId }: { tenantId: string }): ReactNode {
  const [filters, setFilters] = useFilters(['kind']);
  const kind = ENTRY_KINDS.find((one) => one === filters.kind);
  const entries = useCursorList(['admin', 'tenants', tenantId, 'entries', kind], (page, signal) =>
    api.GET('/v1/admin/tenants/{tenant_id}/entries', {
      params: { path: { tenant_id: tenantId }, query: { ...(kind && { kind }), ...page } },
      signal,
    }),
  );
  return (
    <>
      <div className="filters">
        <FilterSelect
          label="Kind"
          any="All"
          value={kind ?? ''}
          options={ENTRY_KINDS}
          onChange={(chosen) => setFilters({ kind: chosen })}
        />
      </div>
      <Card>
        <PagedTable
          query={entries}
          caption="Ledger entries"
          columns={columnsOf(tenantId)}
          rowKey={({ id }) => id}
          empty={
            <EmptyState title="No ledger entries">
              <span>Grants, corrections and charges appear here. Grant credits to start.</span>
            </EmptyState>
          }
        />
      </Card>
      <MoreButton query={entries} />
    </>
  );
}
