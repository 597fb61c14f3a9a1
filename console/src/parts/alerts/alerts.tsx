import { useQuery } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { useChange } from '../../api/changes';
import { useCursorList } from '../../api/queries';
import {
  ActionButton,
  Badge,
  Button,
  Card,
  ConfirmDialog,
  DataTable,
  EmptyState,
  MoreButton,
  PagedTable,
  QueryState,
  Time,
  toast,
  type Column,
} from '../../ui';
import { ScopeLabel } from '../scope-label';
import { AlertForm, type Draft } from './alert-form';
import { queryKeysOf, type Alert, type AlertEvent, type AlertSource } from './alert-source';
import { describeCondition, KINDS } from './condition';

const TONE = { pending: 'info', delivered: 'good', dropped: 'bad' } as const;

const EVENTS: readonly Column<AlertEvent>[] = [
  { header: 'Time', cell: ({ created_at }) => <Time at={created_at} /> },
  {
    header: 'Status',
    cell: ({ status }) => <Badge tone={status === 'firing' ? 'bad' : 'good'}>{status}</Badge>,
  },
  { header: 'Message', cell: ({ message }) => message },
  { header: 'Alert', wide: true, cell: ({ name }) => name },
  {
    header: 'Delivery',
    cell: ({ delivery }) => (
      <span title={delivery.error ?? undefined}>
        <Badge tone={TONE[delivery.state]}>{delivery.state}</Badge>
      </span>
    ),
  },
];

/** The alerts and their notifications. */
export function Alerts({ source }: { source: AlertSource }): ReactNode {
  const keys = queryKeysOf(source);
  const [edited, setEdited] = useState<Alert | Draft>();
  const [removed, setRemoved] = useState<Alert>();
  const alerts = useQuery({
    queryKey: [keys.alerts],
    queryFn: ({ signal }) => source.list(signal),
    refetchInterval: 15_000,
  });
  const events = useCursorList(
    [keys.events],
    (page, signal) => source.events({ limit: 50, ...page }, signal),
    { refetchInterval: 15_000 },
  );
  const remove = useChange(
    ({ id }: Alert) => source.remove(id),
    [keys.alerts],
    () => toast('Alert deleted.'),
  );
  return (
    <>
      <Card
        title="Alerts"
        actions={
          source.mayChange && (
            <>
              {alerts.data?.presets.map((preset) => (
                <Button key={preset.name} onClick={() => setEdited(preset)}>
                  {preset.name}
                </Button>
              ))}
              <Button
                variant="primary"
                onClick={() => setEdited({ name: '', kind: 'balance_below' })}
              >
                Create alert
              </Button>
            </>
          )
        }
      >
        <QueryState query={alerts}>
          {({ data }) => (
            <DataTable
              caption="Alerts"
              columns={ruleColumns(source, setEdited, setRemoved)}
              rows={data}
              rowKey={({ id }) => id}
              empty={
                <EmptyState title="No alerts yet">
                  Alerts notify a webhook when their condition is met.{' '}
                  {source.mayChange
                    ? 'Start with one of the presets above.'
                    : source.owner === 'tenant'
                      ? 'Ask a developer or an owner to create one.'
                      : 'Ask an admin to create one.'}
                </EmptyState>
              }
            />
          )}
        </QueryState>
      </Card>
      <Card title="Notifications of the last 90 days">
        <PagedTable
          query={events}
          caption="Alert notifications"
          columns={EVENTS}
          rowKey={({ id }) => id}
          empty={
            <EmptyState title="No notifications yet">
              Alerts that fire or resolve appear here.
            </EmptyState>
          }
        />
        <MoreButton query={events} />
      </Card>
      {edited && <AlertForm source={source} alert={edited} onClose={() => setEdited(undefined)} />}
      {removed && (
        <ConfirmDialog
          title={`Delete ${removed.name ?? 'the alert'}?`}
          text="Pending notifications are dropped. Past ones stay listed."
          action="Delete alert"
          danger
          onClose={() => setRemoved(undefined)}
          onConfirm={() => remove.mutateAsync(removed)}
        />
      )}
    </>
  );
}

function ruleColumns(
  source: AlertSource,
  edit: (alert: Alert) => void,
  remove: (alert: Alert) => void,
): Column<Alert>[] {
  return [
    { header: 'Name', cell: ({ name }) => name },
    ...(source.owner === 'tenant'
      ? [{ header: 'Scope', cell: ({ scope }: Alert) => <ScopeLabel scope={scope} /> }]
      : []),
    {
      header: 'State',
      cell: ({ enabled, firing }) =>
        enabled ? (
          <Badge tone={firing ? 'bad' : 'good'}>{firing ? 'firing' : 'ok'}</Badge>
        ) : (
          <Badge tone="neutral">disabled</Badge>
        ),
    },
    {
      header: 'Condition',
      wide: true,
      cell: ({ kind, condition }) => (
        <>
          {KINDS[kind].label}
          <br />
          <small className="muted">{describeCondition(condition)}</small>
        </>
      ),
    },
    {
      header: 'Destination',
      wide: true,
      cell: ({ format, url_preview }) => `${url_preview} (${format})`,
    },
    ...(source.mayChange
      ? [
          {
            header: 'Actions',
            cell: (alert: Alert) => (
              <div className="row">
                <TestButton source={source} alert={alert} />
                <Button aria-label={`Edit ${alert.name}`} onClick={() => edit(alert)}>
                  Edit
                </Button>
                <Button
                  variant="danger"
                  aria-label={`Delete ${alert.name}`}
                  onClick={() => remove(alert)}
                >
                  Delete
                </Button>
              </div>
            ),
          },
        ]
      : []),
  ];
}

/** Sends a test notification and shows the result. */
function TestButton({ source, alert }: { source: AlertSource; alert: Alert }): ReactNode {
  return (
    <ActionButton
      aria-label={`Test ${alert.name}`}
      action={async () => {
        const { delivered, status, error } = await source.test(alert.id);
        if (delivered) toast(`Delivered (HTTP ${status}).`);
        else toast(`Delivery failed: ${error ?? `HTTP ${status}`}`, 'bad');
      }}
    >
      Test
    </ActionButton>
  );
}
