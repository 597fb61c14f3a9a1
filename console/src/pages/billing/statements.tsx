import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { api } from '../../api/client';
import { download } from '../../api/download';
import type { components } from '../../api/schema';
import { formatCount } from '../../format/credits';
import { ENTRY_KINDS } from '../../parts/entry-kinds';
import { useSession } from '../../session/session';
import { useFilters } from '../../shell/use-filters';
import {
  ActionButton,
  Card,
  FilterSelect,
  Credits,
  DataTable,
  EmptyState,
  Notice,
  QueryState,
  SelectField,
  Stat,
  Stats,
  TextField,
  type Column,
} from '../../ui';
import { MonthSelect, thisMonth } from './months';

type Group = components['schemas']['LogGroup'];
type Statement = components['schemas']['Statement'];

const DIMENSIONS: readonly (readonly [by: string, label: string])[] = [
  ['model', 'Model'],
  ['provider', 'Provider'],
  ['endpoint', 'Endpoint'],
  ['api_key', 'Key'],
  ['api_key', 'API key'],
  ['status', 'Status'],
  ['day', 'Day'],
  ['tag', 'Tag'],
];
const LABELS = new Map(DIMENSIONS);
const TOTAL_LABELS: Record<(typeof ENTRY_KINDS)[number], string> = {
  grant: 'Grants',
  correction: 'Corrections',
  charge: 'Charges',
  shortfall: 'Shortfalls',
  refund: 'Refunds',
};

/** A monthly statement, with the cost of its requests by one or two dimensions. */
export function Statements(): ReactNode {
  const { can } = useSession();
  const [{ month = thisMonth(), by = 'model', by2 = '', tag = '' }, setFilters] = useFilters([
    'month',
    'by',
    'by2',
    'tag',
  ]);
  const dimension = (name: string) => (name === 'tag' ? `tag:${tag || 'team'}` : name);
  const group_by = [by, by2 === by ? '' : by2].filter(Boolean).map(dimension).join(',');
  const statement = useQuery({
    queryKey: ['statement', month, group_by],
    queryFn: async ({ signal }) => {
      const read = await api.GET('/v1/customer/statements/{month}', {
        params: { path: { month }, query: { group_by } },
        signal,
      });
      // The API returns text only for CSV.
      if (typeof read === 'string') throw new Error('The API returned CSV instead of JSON.');
      return read;
    },
  });
  const keys = useQuery({
    queryKey: ['api-keys'],
    queryFn: ({ signal }) => api.GET('/v1/customer/api-keys', { signal }),
    enabled: can('read') && group_by.includes('api_key'),
    staleTime: 60_000,
  });
  const keyNames = new Map(keys.data?.data.map(({ id, name }) => [id, name]));
  const path = `/v1/customer/statements/${month}`;
  const csv = (name: string, query = '') =>
    download(path + query, { name: `${name}-${month}.csv`, accept: 'text/csv' });
  return (
    <>
      <div className="filters">
        <MonthSelect value={month} onChange={(next) => setFilters({ month: next })} />
        <SelectField
          label="Group by"
          value={by}
          options={DIMENSIONS}
          onChange={(chosen) => setFilters({ by: chosen })}
        />
        <FilterSelect
          label="Then by"
          any="None"
          value={by2}
          options={DIMENSIONS}
          onChange={(chosen) => setFilters({ by2: chosen })}
        />
        {[by, by2].includes('tag') && (
          <TextField
            label="Tag key"
            hint="For example team"
            value={tag}
            placeholder="team"
            pattern="[a-z0-9_.\-]{1,40}"
            onChange={(text) => setFilters({ tag: text || undefined })}
          />
        )}
      </div>
      <QueryState query={statement}>
        {(data) => (
          <>
            <Totals statement={data} />
            <Card
              title="Request costs"
              actions={
                <>
                  <ActionButton
                    action={() => csv('statement', `?${new URLSearchParams({ group_by })}`)}
                  >
                    Download table (CSV)
                  </ActionButton>
                  <ActionButton action={() => csv('ledger')}>Download entries (CSV)</ActionButton>
                </>
              }
            >
              {data.requests && <Groups list={data.requests} keyNames={keyNames} />}
            </Card>
          </>
        )}
      </QueryState>
    </>
  );
}

function Totals({ statement }: { statement: Statement }): ReactNode {
  const { opening_balance, closing_balance, totals } = statement;
  const kinds = ENTRY_KINDS.filter((kind) => totals[kind] !== 0 || kind === 'charge');
  return (
    <Stats>
      <Stat id="opening" label="Opening balance" value={<Credits value={opening_balance} />} />
      {kinds.map((kind) => (
        <Stat
          key={kind}
          id={kind}
          label={TOTAL_LABELS[kind]}
          value={<Credits value={totals[kind]} />}
        />
      ))}
      <Stat id="closing" label="Closing balance" value={<Credits value={closing_balance} />} />
    </Stats>
  );
}

function Groups({
  list,
  keyNames,
}: {
  list: components['schemas']['LogGroupList'];
  keyNames: ReadonlyMap<string, string>;
}): ReactNode {
  const names = list.group_by.split(',');
  const columns: Column<Group>[] = [
    ...names.map((name) => ({
      header: LABELS.get(name) ?? name,
      cell: ({ groups, is_rest }: Group) => {
        const value = groups[name];
        if (value == null) return <span className="muted">{is_rest ? 'Other' : '(none)'}</span>;
        if (name === 'api_key') return keyNames.get(value) ?? value;
        return name === 'day' ? value.slice(0, 10) : value;
      },
    })),
    { header: 'Cost', align: 'end', cell: ({ cost }) => <Credits value={cost} /> },
    { header: 'Requests', align: 'end', cell: ({ requests }) => formatCount(requests) },
    { header: 'Errors', align: 'end', wide: true, cell: ({ errors }) => formatCount(errors) },
    { header: 'Tokens', align: 'end', wide: true, cell: ({ tokens }) => formatCount(tokens.total) },
  ];
  return (
    <>
      {list.data.length < list.group_count && (
        <Notice tone="info">
          Top {formatCount(list.data.length)} of {formatCount(list.group_count)} groups by cost
        </Notice>
      )}
      <DataTable
        caption="Request costs by group"
        columns={columns}
        rows={list.data}
        rowKey={({ groups, is_rest }) =>
          `${names.map((name) => groups[name]).join('\n')} ${is_rest}`
        }
        empty={
          <EmptyState title="No requests in this month">Select another month above.</EmptyState>
        }
      />
      <p className="muted">
        Total: {formatCount(list.total.requests)} requests, <Credits value={list.total.cost} />. A
        request is charged in the month in which it ends.
      </p>
    </>
  );
}
