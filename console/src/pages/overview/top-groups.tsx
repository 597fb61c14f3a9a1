import type { ReactNode } from 'react';
import type { components } from '../../api/schema';
import { formatCount, formatShare } from '../../format/credits';
import { ButtonLink, Credits, DataTable, Duration, EmptyState, type Column } from '../../ui';

type Group = components['schemas']['AnalyticsGroup'];

/** Filters of the request list, by dimension. */
const FILTER_OF: Record<string, string> = {
  model: 'model',
  provider: 'provider',
  api_key: 'api_key_id',
  end_user: 'end_user',
};

/** The groups with the highest spend, with links to their requests. */
export function TopGroups({
  by,
  label,
  groups,
  groupCount,
  start,
  nameOf,
}: {
  by: string;
  label: string;
  groups: readonly Group[];
  groupCount: number;
  start: string;
  nameOf: (group: string) => string;
}): ReactNode {
  const columns: Column<Group>[] = [
    { header: label, cell: ({ group }) => nameOf(group) },
    { header: 'Spend', align: 'end', cell: ({ cost }) => <Credits value={cost} /> },
    { header: 'Requests', align: 'end', cell: ({ requests }) => formatCount(requests) },
    {
      header: 'Errors',
      align: 'end',
      wide: true,
      cell: ({ error_rate }) => formatShare(error_rate),
    },
    { header: 'Tokens', align: 'end', wide: true, cell: ({ tokens }) => formatCount(tokens.total) },
    {
      header: 'Latency p50',
      align: 'end',
      wide: true,
      cell: ({ latency_p50 }) => <Duration ms={latency_p50} />,
    },
    {
      header: 'Latency p95',
      align: 'end',
      wide: true,
      cell: ({ latency_p95 }) => <Duration ms={latency_p95} />,
    },
    {
      header: 'Request log',
      cell: (group) => (
        <ButtonLink to="/requests" search={{ ...filterFor(by, group), start_date: start }}>
          Show<span className="visually-hidden"> requests of {nameOf(group.group)}</span>
        </ButtonLink>
      ),
    },
  ];
  return (
    <>
      <DataTable
        caption={`Spend by ${by}`}
        columns={columns}
        rows={groups}
        rowKey={({ group, is_rest }) => `${group} ${is_rest}`}
        empty={<EmptyState title="No requests in this time" />}
      />
      {groupCount > groups.length && (
        <p className="muted">
          Top {groups.length} of {formatCount(groupCount)} by spend
        </p>
      )}
    </>
  );
}

function filterFor(by: string, { groups, group }: Group): Record<string, string> {
  const value = groups[by] ?? group;
  if (by.startsWith('tag:')) return { tag: `${by.slice(4)}=${value}` };
  const filter = FILTER_OF[by];
  return filter === undefined ? {} : { [filter]: value };
}
