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
    header: 'Duration',
    align: 'end',
    wide: true,
    cell: ({ latency_ms }) => <Duration ms={latency_ms} />,
  },
  { header: 'Time', cell: ({ created_at }) => <Time at={created_at} /> },
];

/** Shows the newest requests from the tenant's own code, updated live. */
export function ArrivalStep({ known }: { known: KnownHere }): ReactNode {
  const rows = ownRequests(known);
  return rows.length === 0 ? (
    <Notice tone="info">Waiting for your request. Run the code from the previous step.</Notice>
  ) : (
    <>
      <p role="status">
        Your request arrived. Select it for its cost and vendor calls, or open{' '}
        <Link to="/requests">all requests</Link>.
      </p>
      <DataTable
        caption="Newest requests"
        columns={COLUMNS}
        rows={rows.slice(0, SHOWN)}
        rowKey={({ id }) => id}
      />
    </>
  );
}
