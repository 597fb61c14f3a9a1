import { Link } from '@tanstack/react-router';
import { useState, type ReactNode } from 'react';
import { api } from '../../api/client';
import { useCursorList } from '../../api/queries';
import type { components } from '../../api/schema';
import { formatCount } from '../../format/credits';
import { TenantStatusBadge } from '../../parts/tenant-status';
import { useSession } from '../../session/session';
import { useFilters } from '../../shell/use-filters';
import {
  Button,
  Card,
  FilterSelect,
  Credits,
  EmptyState,
  MoreButton,
  Page,
  PagedTable,
  SearchField,
  SelectField,
  Time,
  type Column,
} from '../../ui';
import { CreateTenant } from './create-tenant';

type Tenant = components['schemas']['Tenant'];

const STATUSES = ['active', 'suspended', 'deleted'] as const;
const SORTS = {
  created_at: 'Newest',
  balance: 'Balance',
  spent_this_month: 'Spent this month',
  spent: 'Spent in total',
  name: 'Name',
} as const;

const COLUMNS: readonly Column<Tenant>[] = [
  {
    header: 'Name',
    cell: ({ id, name }) => (
      <Link to="/tenants/$tenantId" params={{ tenantId: id }}>
        {name}
      </Link>
    ),
  },
  { header: 'Status', cell: ({ status }) => <TenantStatusBadge status={status} /> },
  { header: 'Balance', align: 'end', cell: ({ balance }) => <Credits value={balance} /> },
  {
    header: 'Spent this month',
    align: 'end',
    cell: ({ spent_this_month }) => <Credits value={spent_this_month} />,
  },
  {
    header: 'Spent in total',
    align: 'end',
    wide: true,
    cell: ({ spent }) => <Credits value={spent} />,
  },
  {
    header: 'Requests',
    align: 'end',
    wide: true,
    cell: ({ request_count }) => formatCount(request_count),
  },
  { header: 'Keys', align: 'end', wide: true, cell: ({ key_count }) => formatCount(key_count) },
  { header: 'Created', wide: true, cell: ({ created_at }) => <Time at={created_at} /> },
];

/** All tenants with balance and spend. */
export function TenantsPage(): ReactNode {
  const { can } = useSession();
  const [isCreating, setIsCreating] = useState(false);
  const [filters, setFilters] = useFilters(['search', 'status', 'sort']);
  const status = STATUSES.find((one) => one === filters.status);
  const sort = filters.sort && isSort(filters.sort) ? filters.sort : 'created_at';
  const order = sort === 'name' ? ('asc' as const) : ('desc' as const);
  const query = { ...(filters.search && { search: filters.search }), ...(status && { status }) };
  const list = useCursorList(['admin', 'tenants', query, sort], (page, signal) =>
    api.GET('/v1/admin/tenants', { params: { query: { ...query, sort, order, ...page } }, signal }),
  );
  return (
    <Page
      title="Tenants"
      description="All tenants of the gateway, with balance and spend."
      actions={
        can('operator:write') && (
          <Button variant="primary" onClick={() => setIsCreating(true)}>
            Create tenant
          </Button>
        )
      }
    >
      <div className="filters">
        <SearchField
          label="Search"
          value={filters.search ?? ''}
          placeholder="Part of a name"
          onSearch={(search) => setFilters({ search })}
        />
        <FilterSelect
          label="Status"
          any="Not deleted"
          value={status ?? ''}
          options={STATUSES}
          onChange={(chosen) => setFilters({ status: chosen })}
        />
        <SelectField
          label="Sort by"
          value={sort}
          options={Object.entries(SORTS)}
          onChange={(chosen) => setFilters({ sort: chosen })}
        />
      </div>
      <Card>
        <PagedTable
          query={list}
          caption="Tenants"
          columns={COLUMNS}
          rowKey={({ id }) => id}
          empty={
            <EmptyState title="No matching tenants">
              <span>Clear the filters or create a tenant.</span>
            </EmptyState>
          }
        />
      </Card>
      <MoreButton query={list} />
      {isCreating && <CreateTenant onClose={() => setIsCreating(false)} />}
    </Page>
  );
}

function isSort(name: string): name is keyof typeof SORTS {
  return name in SORTS;
}
