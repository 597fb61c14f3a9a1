import { useQuery } from '@tanstack/react-query';
import { useDeferredValue, type ReactNode } from 'react';
import { api } from '../../api/client';
import { formatCount } from '../../format/credits';
import { useFilters } from '../../shell/use-filters';
import {
  Card,
  FilterSelect,
  Credits,
  EmptyState,
  QueryState,
  SelectField,
  SteppedTable,
  TextField,
  Time,
  type Column,
} from '../../ui';
import { KeyStatus } from '../../parts/key-cells';
import { KeyDrawer, type ApiKey } from './key-drawer';
import { tightest } from '../../parts/limits-draft';
import { BudgetBar, type BudgetState } from '../../parts/limits-view';

const STATUSES = ['active', 'expired', 'revoked'] as const;
/** Rows rendered at once; the list itself is complete. */
const STEP = 50;

const COLUMNS: readonly Column<ApiKey>[] = [
  { header: 'Name', cell: ({ name }) => name },
  { header: 'Status', cell: ({ status }) => <KeyStatus status={status} /> },
  {
    header: 'Key',
    wide: true,
    cell: ({ key_preview, type }) => (
      <>
        <code>{key_preview}</code>
        <br />
        <small className="muted">{type}</small>
      </>
    ),
  },
  {
    header: 'Budget',
    cell: (key) => {
      const budget = tightest(budgetsOf(key));
      return budget ? <BudgetBar budget={budget} short /> : <span className="muted">none</span>;
    },
  },
  { header: 'Spent', align: 'end', cell: ({ usage }) => <Credits value={usage.total_spend} /> },
  {
    header: 'Requests',
    align: 'end',
    wide: true,
    cell: ({ usage }) => formatCount(usage.request_count),
  },
  {
    header: 'Last used',
    wide: true,
    cell: ({ last_used_at }) => <Time at={last_used_at} none="never" />,
  },
  {
    header: 'Expires',
    wide: true,
    cell: ({ expires_at }) => <Time at={expires_at} none="never" />,
  },
];

/** Returns all budgets of a key: its own, the operator's and its monthly limit. */
function budgetsOf({ limits, operator_limits, monthly_spend }: ApiKey): BudgetState[] {
  return [...limits.budgets, ...operator_limits.budgets, ...(monthly_spend ? [monthly_spend] : [])];
}

/** The tenant's keys. */
export function KeyList(): ReactNode {
  const [{ key: openId, q = '', status = 'active', type }, setFilters] = useFilters([
    'key',
    'q',
    'status',
    'type',
  ]);
  const keys = useQuery({
    queryKey: ['api-keys'],
    queryFn: ({ signal }) => api.GET('/v1/customer/api-keys', { signal }),
    refetchInterval: 30_000,
  });
  const search = useDeferredValue(q.toLowerCase());
  return (
    <>
      <div className="filters">
        <TextField
          label="Search"
          type="search"
          placeholder="Name or key"
          value={q}
          onChange={(text) => setFilters({ q: text })}
        />
        <SelectField
          label="Status"
          value={status}
          options={[...STATUSES, 'all']}
          onChange={(chosen) => setFilters({ status: chosen })}
        />
        <FilterSelect
          label="Type"
          any="all"
          value={type ?? ''}
          options={['routing', 'management']}
          onChange={(chosen) => setFilters({ type: chosen })}
        />
      </div>
      <Card>
        <QueryState query={keys}>
          {({ data }) => {
            const found = data.filter(
              (key) =>
                (status === 'all' || key.status === status) &&
                (!type || key.type === type) &&
                `${key.name} ${key.key_preview} ${key.id}`.toLowerCase().includes(search),
            );
            const opened = data.find(({ id }) => id === openId);
            return (
              <>
                <SteppedTable
                  caption="API keys"
                  columns={COLUMNS}
                  rows={found}
                  step={STEP}
                  rowKey={({ id }) => id}
                  onOpen={({ id }) => setFilters({ key: id })}
                  empty={
                    <EmptyState title={data.length === 0 ? 'No API keys yet' : 'No matching keys'}>
                      {data.length === 0
                        ? 'Your code calls models with a routing key. Select “Create key” to start.'
                        : 'Change the search or the filters.'}
                    </EmptyState>
                  }
                />
                {opened && (
                  <KeyDrawer
                    apiKey={opened}
                    parent={data.find(({ id }) => id === opened.parent_id)}
                    onClose={() => setFilters({ key: undefined })}
                  />
                )}
              </>
            );
          }}
        </QueryState>
      </Card>
    </>
  );
}
