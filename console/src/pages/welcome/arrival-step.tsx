import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { Badge, Credits, DataTable, Duration, Notice, Time, type Column } from '../../ui';
import { ownRequests } from './steps';
import type { KnownHere } from './use-known';

type Row = NonNullable<KnownHere['logs']>[number];

const SHOWN = 5;
const COLUMNS: readonly Column<Row>[] = [
  {
    header: 'Model',
    cell: ({ model, request_id }) => (
      <Link to="/requests/$requestId" params={{ requestId: request_id }}>
        {model}
      </Link>
    ),
  },
  {
    header: 'Status',
    cell: ({ status }) => <Badge tone={status === 'success' ? 'good' : 'bad'}>{status}</Badge>,
  },
  { header: 'Cost', align: 'end', cell: ({ cost }) => <Credits value={cost} /> },
  {
    header: 'Took',
    align: 'end',
    wide: true,
    cell: ({ latency_ms }) => <Duration ms={latency_ms} />,
  },
  { header: 'At', cell: ({ created_at }) => <Time at={created_at} /> },
];

/** The newest requests that came with a key of somebody's own, as they come. */
export function ArrivalStep({ known }: { known: KnownHere }): ReactNode {
  const rows = ownRequests(known);
  return rows.length === 0 ? (
    <Notice tone="info">
      Waiting for your request: run the code of the step before, and it appears here by itself.
    </Notice>
  ) : (
    <>
      <p role="status">
        It is here. Each opens into what it cost and how it was served, and all of them are on the
        page <Link to="/requests">Requests</Link>.
      </p>
      <DataTable
        caption="The newest requests"
        columns={COLUMNS}
        rows={rows.slice(0, SHOWN)}
        rowKey={({ id }) => id}
      />
    </>
  );
}
