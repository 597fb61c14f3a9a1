import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { api } from '../../api/client';
import { download } from '../../api/download';
import { useCursorList } from '../../api/queries';
import { shortId } from '../../format/ids';
import type { components } from '../../api/schema';
import { ENTRY_KINDS } from '../../parts/entry-kinds';
import { useFilters } from '../../shell/use-filters';
import {
  ActionButton,
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
import { MonthSelect } from './months';

type Entry = components['schemas']['TenantLedgerEntry'];

const MEANING: Record<Entry['kind'], string> = {
  grant: 'Credits added by the operator.',
  correction: 'A correction by the operator.',
  charge: 'The cost of a request.',
  shortfall: 'The part of a charge that exceeded the balance. It is not charged.',
  refund: 'Credits returned for a request.',
};

const COLUMNS: readonly Column<Entry>[] = [
  { header: 'Time', cell: ({ created_at }) => <Time at={created_at} /> },
  {
    header: 'Kind',
    cell: ({ kind }) => (
      <span title={MEANING[kind]}>
        <Badge tone={kind === 'charge' ? 'neutral' : 'info'}>{kind}</Badge>
      </span>
    ),
  },
  { header: 'Amount', align: 'end', cell: ({ amount }) => <Credits value={amount} /> },
  {
    header: 'Balance after',
    align: 'end',
    cell: ({ balance_after }) => <Credits value={balance_after} />,
  },
  {
    header: 'Receipt',
    wide: true,
    cell: ({ request_id }) =>
      request_id === null ? (
        '–'
      ) : (
        <Link to="." search={(before: object) => ({ ...before, receipt: request_id })}>
          <code title={request_id}>{shortId(request_id)}</code>
        </Link>
      ),
  },
];

/** The ledger entries of the tenant. */
export function Ledger(): ReactNode {
  const [{ kind: chosen, month = '' }, setFilters] = useFilters(['kind', 'month', 'receipt']);
  const kind = ENTRY_KINDS.find((each) => each === chosen);
  const filter = { ...(kind && { kind }), ...(month && { month }) };
  const entries = useCursorList(['ledger-entries', filter], (page, signal) =>
    api.GET('/v1/customer/ledger-entries', {
      params: { query: { ...filter, limit: 50, ...page } },
      signal,
    }),
  );
  return (
    <>
      <div className="filters">
        <MonthSelect
          value={month}
          all="All months"
          onChange={(next) => setFilters({ month: next || undefined })}
        />
        <FilterSelect
          label="Kind"
          any="All"
          value={kind ?? ''}
          options={ENTRY_KINDS}
          onChange={(chosen) => setFilters({ kind: chosen })}
        />
        <ActionButton
          action={() =>
            download(`/v1/customer/ledger-entries/export.csv?${new URLSearchParams(filter)}`, {
              name: `ledger${month && `-${month}`}.csv`,
            })
          }
        >
          Download CSV
        </ActionButton>
      </div>
      <Card>
        <PagedTable
          query={entries}
          caption="Ledger entries"
          columns={kind ? COLUMNS.filter(({ header }) => header !== 'Balance after') : COLUMNS}
          rowKey={({ id }) => id}
          empty={
            <EmptyState title="No ledger entries">
              {kind || month
                ? 'Select another month or kind.'
                : 'Grants, charges and refunds appear here. Ask the operator for credits to start.'}
            </EmptyState>
          }
        />
        <MoreButton query={entries} />
      </Card>
    </>
  );
}
