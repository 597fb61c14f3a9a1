import { Link } from '@tanstack/react-router';
import { useState, type ReactNode } from 'react';
import { api, unwrap } from '../../api/client';
import { useCursorList } from '../../api/queries';
import type { components } from '../../api/schema';
import { formatCount } from '../../format/credits';
import { useSession } from '../../session/session';
import { useFilters } from '../../shell/use-filters';
import {
  Badge,
  Button,
  Card,
  Credits,
  DataTable,
  EmptyState,
  Field,
  MoreButton,
  Page,
  QueryState,
  SearchInput,
  Select,
  Time,
  type Column,
  type Tone,
} from '../../ui';
import { CreateTenant } from './create-tenant';

type Tenant = components['schemas']['Tenant'];

const TONE_OF_STATUS: Record<Tenant['status'], Tone> = {
  active: 'good',
  suspended: 'warn',
  deleted: 'neutral',
};

const STATUSES = ['active', 'suspended', 'deleted'] as const;
const SORTS = {
  created_at: 'Newest',
  balance: 'Balance',
  spent_this_month: 'Spent this month',
  spent: 'Spent in all',
  name: 'Name',
} as const;

const COLUMNS: readonly Column<Tenant>[] = [
  {
    id: 'name',
    header: 'Name',
    cell: ({ id, name }) => (
      <Link to="/tenants/$tenantId" params={{ tenantId: id }}>
        {name}
      </Link>
    ),
  },
  {
    id: 'status',
    header: 'State',
    cell: ({ status }) => <Badge tone={TONE_OF_STATUS[status]}>{status}</Badge>,
  },
  {
    id: 'balance',
    header: 'Balance',
    align: 'end',
    cell: ({ balance }) => <Credits value={balance} />,
  },
  {
    id: 'month',
    header: 'Spent this month',
    align: 'end',
    cell: ({ spent_this_month }) => <Credits value={spent_this_month} />,
  },
  {
    id: 'spent',
    header: 'Spent in all',
    align: 'end',
    wide: true,
    cell: ({ spent }) => <Credits value={spent} />,
  },
  {
    id: 'requests',
    header: 'Requests',
    align: 'end',
    wide: true,
    cell: ({ request_count }) => formatCount(request_count),
  },
  {
    id: 'keys',
    header: 'Keys',
    align: 'end',
    wide: true,
    cell: ({ key_count }) => formatCount(key_count),
  },
  {
    id: 'created',
    header: 'Since',
    wide: true,
    cell: ({ created_at }) => <Time at={created_at} />,
  },
];

/** Whom the gateway serves, with what they have and spend. */
export function TenantsPage(): ReactNode {
  const { can } = useSession();
  const [isCreating, setIsCreating] = useState(false);
  const [filters, setFilters] = useFilters(['search', 'status', 'sort']);
  const status = STATUSES.find((one) => one === filters.status);
  const sort = filters.sort && isSort(filters.sort) ? filters.sort : 'created_at';
  const order = sort === 'name' ? ('asc' as const) : ('desc' as const);
  const query = { ...(filters.search && { search: filters.search }), ...(status && { status }) };
  const list = useCursorList(['admin', 'tenants', query, sort], (cursor, signal) =>
    unwrap(
      api.GET('/v1/admin/tenants', {
        params: { query: { ...query, sort, order, ...(cursor && { cursor }) } },
        signal,
      }),
    ),
  );
  return (
    <Page
      title="Tenants"
      description="Whom the gateway serves, with what they have and spend."
      actions={
        can('operator:write') && (
          <Button variant="primary" onClick={() => setIsCreating(true)}>
            Create a tenant
          </Button>
        )
      }
    >
      <div className="filters">
        <Field label="Search">
          <SearchInput
            value={filters.search ?? ''}
            placeholder="Part of a name"
            onSearch={(search) => setFilters({ search })}
          />
        </Field>
        <Field label="State">
          <Select
            value={status ?? ''}
            onChange={(event) => setFilters({ status: event.target.value })}
          >
            <option value="">All but deleted</option>
            {STATUSES.map((one) => (
              <option key={one} value={one}>
                {one}
              </option>
            ))}
          </Select>
        </Field>
        <Field label="Sort by">
          <Select value={sort} onChange={(event) => setFilters({ sort: event.target.value })}>
            {Object.entries(SORTS).map(([id, label]) => (
              <option key={id} value={id}>
                {label}
              </option>
            ))}
          </Select>
        </Field>
      </div>
      <Card>
        <QueryState query={list}>
          {({ pages }) => (
            <DataTable
              caption="Tenants"
              columns={COLUMNS}
              rows={pages.flatMap(({ data }) => data)}
              rowKey={({ id }) => id}
              empty={
                <EmptyState title="No tenant matches">
                  <span>Take a filter away, or create a tenant.</span>
                </EmptyState>
              }
            />
          )}
        </QueryState>
      </Card>
      <MoreButton query={list} />
      {isCreating && <CreateTenant onClose={() => setIsCreating(false)} />}
    </Page>
  );
}

function isSort(name: string): name is keyof typeof SORTS {
  return name in SORTS;
}
