import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { api } from '../../api/client';
import type { components } from '../../api/schema';
import { Button, Card, DataTable, Time, type Column } from '../../ui';
import type { PausableName } from './pause-dialog';

type Pause = components['schemas']['RoutePause'];

/** What operators have taken out of use, if anything. */
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
    { header: 'Model', cell: ({ model }) => model ?? 'all of it' },
    { header: 'Reason', cell: ({ reason }) => reason },
    { header: 'By', wide: true, cell: ({ paused_by }) => paused_by },
    { header: 'Since', wide: true, cell: ({ paused_at }) => <Time at={paused_at} /> },
    { header: 'Until', cell: ({ until }) => <Time at={until} none="somebody resumes it" /> },
    ...(onResume
      ? [
          {
            header: 'Change',
            cell: (pause: Pause) => (
              <Button
                aria-label={`Resume ${pause.model ?? 'all'} at ${pause.provider}`}
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
    <Card title="Paused now">
      <DataTable
        caption="Paused now"
        columns={columns}
        rows={rows}
        rowKey={({ provider, model }) => `${provider} ${model ?? ''}`}
      />
    </Card>
  );
}
