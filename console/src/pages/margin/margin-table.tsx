import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { api } from '../../api/client';
import type { components } from '../../api/schema';
import { formatCount, formatShare } from '../../format/credits';
import { Credits, DataTable, EmptyState, type Column } from '../../ui';

type Group = components['schemas']['MarginGroup'];

export interface Dimension {
  name: string;
  label: string;
}

/** The API's maximum page size for tenants. */
const MAX_NAMES = 200;

const FIGURES: readonly Column<Group>[] = [
  { header: 'Requests', align: 'end', wide: true, cell: ({ requests }) => formatCount(requests) },
  { header: 'Charged', align: 'end', cell: ({ charged }) => <Credits value={charged} /> },
  {
    header: 'Shortfall + refunds',
    align: 'end',
    wide: true,
    cell: ({ shortfall, refunded }) => <Credits value={shortfall + refunded} />,
  },
  {
    header: 'Vendor cost',
    align: 'end',
    wide: true,
    cell: ({ vendor_cost }) => <Credits value={vendor_cost} />,
  },
  { header: 'Margin', align: 'end', cell: ({ margin }) => <Credits value={margin} /> },
  {
    header: 'Margin %',
    align: 'end',
    cell: ({ charged, margin }) => (charged > 0 ? formatShare(margin / charged) : '–'),
  },
];

/** The margin by one or two dimensions. */
export function MarginTable({
  dimensions,
  rows,
}: {
  dimensions: readonly Dimension[];
  rows: readonly Group[];
}): ReactNode {
  const names = useTenantNames(dimensions.some(({ name }) => name === 'tenant'));
  const columns = dimensions.map(({ name, label }): Column<Group> => ({
    header: label,
    cell: (group) => <Value name={name} group={group} tenants={names} />,
  }));
  return (
    <DataTable
      caption={`Margin by ${dimensions.map(({ label }) => label).join(' and ')}`}
      columns={[...columns, ...FIGURES]}
      rows={rows}
      rowKey={({ groups, is_rest }) => JSON.stringify([groups, is_rest])}
      empty={<EmptyState title="No requests in this time range" />}
    />
  );
}

function Value({
  name,
  group: { groups, is_rest },
  tenants,
}: {
  name: string;
  group: Group;
  tenants: ReadonlyMap<string, string>;
}): ReactNode {
  const value = groups[name];
  if (value == null) return is_rest ? 'Other' : '(none)';
  if (name === 'day') return value.slice(0, 10);
  if (name === 'month') return value.slice(0, 7);
  if (name !== 'tenant') return value;
  return (
    <Link to="/tenants/$tenantId" params={{ tenantId: value }}>
      {tenants.get(value) ?? value}
    </Link>
  );
}

/** Returns the names of the tenants with the highest spend; others are shown by id. */
function useTenantNames(enabled: boolean): ReadonlyMap<string, string> {
  const { data } = useQuery({
    queryKey: ['admin', 'tenants', 'names'],
    queryFn: ({ signal }) =>
      api.GET('/v1/admin/tenants', {
        params: { query: { sort: 'spent', order: 'desc', limit: MAX_NAMES } },
        signal,
      }),
    enabled,
  });
  return new Map(data?.data.map(({ id, name }) => [id, name]));
}
