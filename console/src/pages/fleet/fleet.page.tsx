import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { api } from '../../api/client';
import type { components } from '../../api/schema';
import { formatCount, formatShare } from '../../format/credits';
import { formatDuration } from '../../format/times';
import { useFilters } from '../../shell/use-filters';
import {
  Badge,
  Card,
  DataTable,
  Duration,
  EmptyState,
  Notice,
  Page,
  QueryState,
  Stat,
  Stats,
  type Column,
} from '../../ui';
import { FleetLoad } from './fleet-load';
import type { Instance } from './instance';
import { InstanceDrawer } from './instance-drawer';
import { hedgedShare, rateOf, slowestOf, sumOf } from './recent';

type Topic = components['schemas']['QueueTopic'];

/** As often as instances tell of themselves. */
const LOOK_EVERY_MS = 5_000;

const COLUMNS: readonly Column<Instance>[] = [
  {
    header: 'Instance',
    cell: ({ host, pid, id }) => (host === null ? id.slice(0, 8) : `${host}:${pid ?? ''}`),
  },
  {
    header: 'Role',
    cell: ({ role, is_self }) => (
      <>
        {role ?? '–'} {is_self && <Badge tone="info">answers you</Badge>}
      </>
    ),
  },
  { header: 'Version', cell: (instance) => <Fact instance={instance} part="version" /> },
  { header: 'Catalogue', cell: (instance) => <Fact instance={instance} part="catalogue" /> },
  {
    header: 'Up for',
    align: 'end',
    wide: true,
    cell: ({ uptime_seconds }) => <Duration ms={uptime_seconds * 1_000} />,
  },
  { header: 'Requests', align: 'end', cell: ({ recent }) => (recent ? rateOf(recent) : '–') },
  {
    header: 'Errors',
    align: 'end',
    cell: ({ recent }) =>
      recent && recent.requests > 0 ? formatShare(recent.errors / recent.requests) : '–',
  },
  {
    header: 'p50 / p95',
    align: 'end',
    wide: true,
    cell: ({ recent }) =>
      recent?.latency_p50 == null
        ? '–'
        : `${formatDuration(recent.latency_p50)} / ${formatDuration(recent.latency_p95 ?? 0)}`,
  },
  {
    header: 'In flight',
    align: 'end',
    wide: true,
    cell: ({ requests_in_flight: open }) => (open === null ? '–' : formatCount(open)),
  },
  {
    header: 'Routes left alone',
    wide: true,
    cell: ({ routes, more_routes }) =>
      routes.length === 0 ? (
        'none'
      ) : (
        <Badge tone="warn">{formatCount(routes.length + more_routes)}</Badge>
      ),
  },
  { header: 'Hedged', align: 'end', wide: true, cell: ({ hedging }) => hedgedShare(hedging) },
];

const TOPIC_COLUMNS: readonly Column<Topic>[] = [
  { header: 'Queue', cell: ({ topic }) => topic },
  ...(['waiting', 'active', 'delayed'] as const).map((state): Column<Topic> => ({
    header: state[0]?.toUpperCase() + state.slice(1),
    align: 'end',
    cell: ({ depth }) => (depth[state] === undefined ? '–' : formatCount(depth[state])),
  })),
];

/** The processes that share the database, as they are now. */
export function FleetPage(): ReactNode {
  const [{ instance: opened }, setFilters] = useFilters(['instance']);
  const fleet = useQuery({
    queryKey: ['admin', 'instances'],
    queryFn: ({ signal }) => api.GET('/v1/admin/instances', { signal }),
    refetchInterval: LOOK_EVERY_MS,
  });
  return (
    <Page
      title="Fleet"
      description="The processes that share the database, as of their last heartbeat. It is read anew every 5 s."
    >
      <QueryState query={fleet}>
        {({ data, queue }) => (
          <>
            <FleetStats instances={data} />
            <Odd instances={data} />
            <FleetLoad />
            <Card title="Instances">
              <DataTable
                caption="Instances"
                columns={COLUMNS}
                rows={data}
                rowKey={({ id }) => id}
                onOpen={({ id }) => setFilters({ instance: id })}
              />
            </Card>
            <Card title="Queues">
              {queue === null ? (
                <Notice tone="bad">The queue can not be reached.</Notice>
              ) : (
                <DataTable
                  caption="Queues"
                  columns={TOPIC_COLUMNS}
                  rows={queue}
                  rowKey={({ topic }) => topic}
                  empty={<EmptyState title="There is no queue" />}
                />
              )}
            </Card>
            <InstanceDrawer
              instance={data.find(({ id }) => id === opened)}
              onClose={() => setFilters({ instance: '' })}
            />
          </>
        )}
      </QueryState>
    </Page>
  );
}

/** The list is always whole, so these are sums over all. */
function FleetStats({ instances }: { instances: readonly Instance[] }): ReactNode {
  const sum = sumOf(instances);
  const slowest = slowestOf(instances);
  return (
    <Stats>
      <Stat id="instances" label="Alive" value={formatCount(instances.length)} />
      <Stat label="Requests" value={rateOf(sum)} hint="over the last minute" />
      <Stat
        label="Errors"
        value={sum.requests > 0 ? formatShare(sum.errors / sum.requests) : '–'}
        hint={`${formatCount(sum.errors)} in the last minute`}
      />
      <Stat
        label="p50 / p95"
        value={slowest ? `${formatDuration(slowest.p50)} / ${formatDuration(slowest.p95)}` : '–'}
        hint={instances.length > 1 ? 'of the slowest, in the last minute' : 'in the last minute'}
      />
      <Stat label="In flight" value={formatCount(sum.inFlight)} />
      <Stat label="Settlements waiting" value={formatCount(sum.pending)} hint="for their commit" />
    </Stats>
  );
}

function Odd({ instances }: { instances: readonly Instance[] }): ReactNode {
  const odd = instances.filter(({ differs }) => differs.length > 0);
  if (odd.length === 0) return null;
  const parts = [...new Set(odd.flatMap(({ differs }) => differs))].join(', ');
  return (
    <Notice tone="warn">
      {odd.length === 1 ? '1 instance differs' : `${odd.length} instances differ`} from most of the
      others: {parts}. Give all of them the same settings and files.
    </Notice>
  );
}

function Fact({
  instance,
  part,
}: {
  instance: Instance;
  part: 'version' | 'catalogue';
}): ReactNode {
  const value = instance[part];
  if (value === null) return '–';
  if (!instance.differs.includes(part)) return <span className="mono">{value}</span>;
  return (
    <Badge tone="warn">
      <span className="mono">{value}</span> differs
    </Badge>
  );
}
