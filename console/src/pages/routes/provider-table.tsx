import { useQuery } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { api } from '../../api/client';
import type { components } from '../../api/schema';
import { formatShare } from '../../format/credits';
import { useSession } from '../../session/session';
import {
  Badge,
  Button,
  Card,
  DataTable,
  Duration,
  EmptyState,
  QueryState,
  Time,
  type Column,
  type Tone,
} from '../../ui';
import { AccountTable } from './account-table';
import { PauseDialog, ResumeDialog, type PausableName } from './pause-dialog';

type Provider = components['schemas']['OperatedProvider'];
type KeyCheck = components['schemas']['OperatedKeyCheck'];

const TONE_OF_STATUS: Record<string, Tone> = {
  healthy: 'good',
  degraded: 'warn',
  unhealthy: 'bad',
};

/** The configured providers with their latest probe results. */
export function ProviderTable(): ReactNode {
  const { can } = useSession();
  const [paused, setPaused] = useState<PausableName>();
  const [resumed, setResumed] = useState<PausableName>();
  const providers = useQuery({
    queryKey: ['admin', 'routes', 'providers'],
    queryFn: ({ signal }) => api.GET('/v1/admin/providers', { signal }),
  });
  const columns: Column<Provider>[] = [
    {
      header: 'Provider',
      cell: ({ id, name }) => (
        <>
          {name} <span className="muted">{id}</span>
        </>
      ),
    },
    {
      header: 'Probe status',
      cell: ({ status }) => <Badge tone={TONE_OF_STATUS[status] ?? 'neutral'}>{status}</Badge>,
    },
    { header: 'API key', cell: (provider) => <Keys of={provider.key_checks} /> },
    {
      header: 'Probe p50',
      align: 'end',
      cell: ({ health }) => <Duration ms={health.latency_p50} />,
    },
    {
      header: 'Probe p99',
      align: 'end',
      wide: true,
      cell: ({ health }) => <Duration ms={health.latency_p99} />,
    },
    {
      header: 'Failure rate',
      align: 'end',
      wide: true,
      cell: ({ health }) => formatShare(health.error_rate),
    },
    {
      header: 'Last probe',
      wide: true,
      cell: ({ health }) => <Time at={health.last_checked_at} />,
    },
    {
      header: 'Unhealthy on',
      wide: true,
      cell: ({ instances }) =>
        instances.length === 0
          ? '–'
          : `${instances.length} ${instances.length === 1 ? 'instance' : 'instances'}`,
    },
    {
      header: 'Pause',
      cell: ({ pause }) =>
        pause ? (
          <>
            <Badge tone="warn">paused</Badge> {pause.reason}
          </>
        ) : (
          '–'
        ),
    },
  ];
  if (can('operator:write')) {
    columns.push({
      header: 'Actions',
      cell: ({ id, pause }) => (
        <Button
          variant={pause ? 'default' : 'quiet'}
          aria-label={`${pause ? 'Resume' : 'Pause'} all routes of ${id}`}
          onClick={() => (pause ? setResumed(pause) : setPaused({ provider: id, model: null }))}
        >
          {pause ? 'Resume' : 'Pause'}
        </Button>
      ),
    });
  }
  return (
    <>
      <Card
        title="Configured providers"
        actions={
          <Button busy={providers.isFetching} onClick={() => void providers.refetch()}>
            Probe again
          </Button>
        }
      >
        <QueryState query={providers}>
          {({ data }) => (
            <DataTable
              caption="Providers"
              columns={columns}
              rows={data}
              rowKey={({ id }) => id}
              empty={
                <EmptyState title="No providers yet">
                  <span>Add a provider in the catalogue to serve models to all tenants.</span>
                </EmptyState>
              }
            />
          )}
        </QueryState>
      </Card>
      {providers.data && <AccountTable providers={providers.data.data} />}
      {paused && <PauseDialog name={paused} onClose={() => setPaused(undefined)} />}
      {resumed && <ResumeDialog name={resumed} onClose={() => setResumed(undefined)} />}
    </>
  );
}

const KEY_STATUS: Record<KeyCheck['status'], readonly [tone: Tone, word: string]> = {
  ok: ['good', 'works'],
  refused: ['bad', 'refused'],
  unreachable: ['warn', 'unreachable'],
  unchecked: ['neutral', 'unchecked'],
};

/** The results of key checks, with details on problems. */
function Keys({ of: checks }: { of: readonly KeyCheck[] }): ReactNode {
  if (checks.length === 0) return '–';
  return checks.map((check) => {
    const { account, status, detail, catalogue } = check;
    const [tone, word] = KEY_STATUS[status];
    const missing = catalogue?.missing ?? [];
    return (
      <div key={account} title={detail}>
        <Badge tone={tone}>{word}</Badge> {account}{' '}
        <small className="muted">
          {status === 'ok' ? catalogue && `${catalogue.seen} of ${catalogue.total} models` : detail}
        </small>
        {missing.length > 0 && (
          <details>
            <summary>Missing models</summary>
            {missing.join(', ')}
          </details>
        )}
      </div>
    );
  });
}
