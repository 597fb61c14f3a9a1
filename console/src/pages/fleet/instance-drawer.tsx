import type { ReactNode } from 'react';
import { Badge, DataTable, Drawer, EmptyState, Time, type Column } from '../../ui';
import type { Instance } from './instance';
import { describeHedging } from './recent';

type Route = Instance['routes'][number];

const FACTS = [
  ['version', 'Version'],
  ['schema', 'Database schema'],
  ['secret', 'Secret'],
  ['catalogue', 'Catalogue'],
  ['config', 'Configuration'],
  ['artifacts', 'Artifact store'],
] as const;

const ROUTES: readonly Column<Route>[] = [
  { header: 'Provider', cell: ({ provider }) => provider },
  { header: 'Model', cell: ({ model }) => model ?? 'all models' },
  {
    header: 'State',
    cell: ({ state }) => <Badge tone={state === 'open' ? 'bad' : 'warn'}>{state}</Badge>,
  },
];

/** Details of an instance. */
export function InstanceDrawer({
  instance,
  onClose,
}: {
  instance: Instance | undefined;
  onClose: () => void;
}): ReactNode {
  if (!instance) return null;
  return (
    <Drawer
      title={instance.host === null ? instance.id : `${instance.host}:${instance.pid ?? ''}`}
      onClose={onClose}
    >
      <table className="table">
        <caption className="visually-hidden">Instance details</caption>
        <tbody>
          <tr>
            <th scope="row">Id</th>
            <td className="mono">{instance.id}</td>
          </tr>
          <tr>
            <th scope="row">Started</th>
            <td>
              <Time at={instance.started_at} />
            </td>
          </tr>
          <tr>
            <th scope="row">Last heartbeat</th>
            <td>
              <Time at={instance.heartbeat_at} />
            </td>
          </tr>
          <tr>
            <th scope="row">Hedged requests</th>
            <td>{describeHedging(instance.hedging)}</td>
          </tr>
          {FACTS.map(([part, label]) => (
            <tr key={part}>
              <th scope="row">{label}</th>
              <td className="mono">
                {instance[part] ?? '–'}{' '}
                {instance.differs.includes(part) && <Badge tone="warn">differs</Badge>}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      <h3>Unhealthy routes</h3>
      <DataTable
        caption="Unhealthy routes"
        columns={ROUTES}
        rows={instance.routes}
        rowKey={({ provider, model }) => `${provider} ${model ?? ''}`}
        empty={<EmptyState title="All routes are healthy" />}
      />
      {instance.more_routes > 0 && <p className="muted">and {instance.more_routes} more</p>}
    </Drawer>
  );
}
