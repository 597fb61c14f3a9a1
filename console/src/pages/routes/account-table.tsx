import type { ReactNode } from 'react';
import type { components } from '../../api/schema';
import { formatCount } from '../../format/credits';
import { Badge, Card, DataTable, type Column, type Tone } from '../../ui';

type Provider = components['schemas']['OperatedProvider'];
type Account = components['schemas']['OperatedAccount'] & { provider: Provider };

const STATE: Record<Account['state'], readonly [Tone, string]> = {
  healthy: ['good', 'healthy'],
  limited: ['warn', 'at its limit'],
  cooling: ['warn', 'asked to wait'],
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
    header: 'Requests a minute',
    align: 'end',
    cell: (account) => (
      <Used now={account.requests_last_minute} most={account.requests_per_minute} />
    ),
  },
  {
    header: 'Tokens a minute',
    align: 'end',
    cell: (account) => <Used now={account.tokens_last_minute} most={account.tokens_per_minute} />,
  },
];

/** How each account does of the providers that have several; nothing where none has. */
export function AccountTable({ providers }: { providers: readonly Provider[] }): ReactNode {
  const rows = providers.flatMap((provider) =>
    provider.accounts.map((account): Account => ({ ...account, provider })),
  );
  if (rows.length === 0) return null;
  return (
    <Card title="Accounts">
      <p className="muted">
        Where requests are spread among several. What is used is of the last minute and of the
        instance that answers you; limits are of all instances together.
      </p>
      <DataTable
        caption="Accounts of providers"
        columns={COLUMNS}
        rows={rows}
        rowKey={({ id, provider }) => `${provider.id} ${id}`}
      />
    </Card>
  );
}

function Used({ now, most }: { now: number; most: number | null }): ReactNode {
  if (most === null) return formatCount(now);
  return (
    <>
      {formatCount(now)} <span className="muted">of {formatCount(most)}</span>
    </>
  );
}
