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

/** The heartbeat interval of instances. */
const REFRESH_MS = 5_000;

const COLUMNS: readonly Column<Instance>[] = [
  {
    header: 'Instance',
    cell: ({ host, pid, id }) => (host === null ? id.slice(0, 8) : `${host}:${pid ?? ''}`),
  },
  {
    header: 'Role',
    cell: ({ role, is_self }) => (
      <>
        {role ?? '–'} {is_self && <Badge tone="info">this instance</Badge>}
      </>
    ),
  },
  { header: 'Version', cell: (instance) => <Fingerprint instance={instance} part="version" /> },
  { header: 'Catalogue', cell: (instance) => <Fingerprint instance={instance} part="catalogue" /> },
  {
    header: 'Uptime',
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
    header: 'Latency p50 / p95',
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
    header: 'Unhealthy routes',
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

/** The instances that share the database. */
export function FleetPage(): ReactNode {
  const [{ instance: opened }, setFilters] = useFilters(['instance']);
  const fleet = useQuery({
    queryKey: ['admin', 'instances'],
    queryFn: ({ signal }) => api.GET('/v1/admin/instances', { signal }),
    refetchInterval: REFRESH_MS,
  });
  return (
    <Page
      title="Fleet"
      description="Instances that share the database, as of their last heartbeat. Updated every 5 s."
    >
      <QueryState query={fleet}>
        {({ data, queue }) => (
          <>
            <FleetStats instances={data} />
            <DriftNotice instances={data} />
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
                <Notice tone="bad">The queue is unreachable.</Notice>
              ) : (
                <DataTable
                  caption="Queues"
                  columns={TOPIC_COLUMNS}
                  rows={queue}
                  rowKey={({ topic }) => topic}
                  empty={<EmptyState title="No queues" />}
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

/** Totals over all instances; the API does not paginate them. */
function FleetStats({ instances }: { instances: readonly Instance[] }): ReactNode {
  const sum = sumOf(instances);
  const slowest = slowestOf(instances);
  return (
    <Stats>
      <Stat id="instances" label="Instances" value={formatCount(instances.length)} />
      <Stat label="Requests" value={rateOf(sum)} hint="in the last minute" />
      <Stat
        label="Error rate"
        value={sum.requests > 0 ? formatShare(sum.errors / sum.requests) : '–'}
        hint={`${formatCount(sum.errors)} errors in the last minute`}
      />
      <Stat
        label="Latency p50 / p95"
        value={slowest ? `${formatDuration(slowest.p50)} / ${formatDuration(slowest.p95)}` : '–'}
        hint={instances.length > 1 ? 'slowest instance, last minute' : 'in the last minute'}
      />
      <Stat label="In flight" value={formatCount(sum.inFlight)} />
      <Stat label="Pending settlements" value={formatCount(sum.pending)} hint="not committed yet" />
    </Stats>
  );
}

function DriftNotice({ instances }: { instances: readonly Instance[] }): ReactNode {
  const drifted = instances.filter(({ differs }) => differs.length > 0);
  if (drifted.length === 0) return null;
  const parts = [...new Set(drifted.flatMap(({ differs }) => differs))].join(', ');
  return (
    <Notice tone="warn">
      {drifted.length === 1 ? '1 instance differs' : `${drifted.length} instances differ`} from the
      majority in: {parts}. Use the same settings and files on all instances.
    </Notice>
  );
}

function Fingerprint({
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
