import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { api } from '../../api/client';
import type { components } from '../../api/schema';
import { Button, Card, DataTable, Time, type Column } from '../../ui';
import type { PausableName } from './pause-dialog';

type Pause = components['schemas']['RoutePause'];

/** The active pauses, if any. */
export function PausedNow({
  onResume,
}: {
  onResume: ((name: PausableName) => void) | undefined;
}): ReactNode {
  const pauses = useQuery({
    queryKey: ['admin', 'routes', 'pauses'],
    queryFn: ({ signal }) => api.GET('/v1/admin/routes/pauses', { signal }),
    refetchInterval: 10_000,
  });
  const rows = pauses.data?.data ?? [];
  if (rows.length === 0) return null;
  const columns: Column<Pause>[] = [
    { header: 'Provider', cell: ({ provider }) => provider },
    { header: 'Model', cell: ({ model }) => model ?? 'all models' },
    { header: 'Reason', cell: ({ reason }) => reason },
    { header: 'Paused by', wide: true, cell: ({ paused_by }) => paused_by },
    { header: 'Since', wide: true, cell: ({ paused_at }) => <Time at={paused_at} /> },
    { header: 'Until', cell: ({ until }) => <Time at={until} none="resumed manually" /> },
    ...(onResume
      ? [
          {
            header: 'Actions',
            cell: (pause: Pause) => (
              <Button
                aria-label={`Resume ${pause.model ?? 'all routes'} at ${pause.provider}`}
                onClick={() => onResume(pause)}
              >
                Resume
              </Button>
            ),
          },
        ]
      : []),
  ];
  return (
    <Card title="Active pauses">
      <DataTable
        caption="Active pauses"
        columns={columns}
        rows={rows}
        rowKey={({ provider, model }) => `${provider} ${model ?? ''}`}
      />
    </Card>
  );
}
