import type { ReactNode } from 'react';
import type { components } from '../../api/schema';
import { formatCount } from '../../format/credits';
import { Badge, Card, DataTable, type Column, type Tone } from '../../ui';

type Provider = components['schemas']['OperatedProvider'];
type Account = components['schemas']['OperatedAccount'] & { provider: Provider };

const STATE: Record<Account['state'], readonly [Tone, string]> = {
  healthy: ['good', 'healthy'],
  limited: ['warn', 'rate limited'],
  cooling: ['warn', 'cooling down'],
  open: ['bad', 'failing'],
};

const COLUMNS: readonly Column<Account>[] = [
  {
    header: 'Account',
    cell: ({ id, provider }) => (
      <>
        {id} <span className="muted">of {provider.name}</span>
      </>
    ),
  },
  { header: 'State', cell: ({ state }) => <Badge tone={STATE[state][0]}>{STATE[state][1]}</Badge> },
  { header: 'Weight', align: 'end', wide: true, cell: ({ weight }) => weight },
  {
    header: 'In flight',
    align: 'end',
    wide: true,
    cell: (account) => formatCount(account.requests_in_flight),
  },
  {
    header: 'Requests per minute',
    align: 'end',
    cell: (account) => (
      <Usage now={account.requests_last_minute} most={account.requests_per_minute} />
    ),
  },
  {
    header: 'Tokens per minute',
    align: 'end',
    cell: (account) => <Usage now={account.tokens_last_minute} most={account.tokens_per_minute} />,
  },
];

/** The accounts of providers with several accounts. */
export function AccountTable({ providers }: { providers: readonly Provider[] }): ReactNode {
  const rows = providers.flatMap((provider) =>
    provider.accounts.map((account): Account => ({ ...account, provider })),
  );
  if (rows.length === 0) return null;
  return (
    <Card title="Accounts">
      <p className="muted">
        Requests are spread across these accounts. Usage covers the last minute on the instance that
        served this page; limits apply to all instances together.
      </p>
      <DataTable
        caption="Provider accounts"
        columns={COLUMNS}
        rows={rows}
        rowKey={({ id, provider }) => `${provider.id} ${id}`}
      />
    </Card>
  );
}

function Usage({ now, most }: { now: number; most: number | null }): ReactNode {
  if (most === null) return formatCount(now);
  return (
    <>
      {formatCount(now)} <span className="muted">of {formatCount(most)}</span>
    </>
  );
}
