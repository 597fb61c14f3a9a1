import { useState, type ReactNode } from 'react';
import { useChange } from '../../api/changes';
import { api } from '../../api/client';
import { useSession } from '../../session/session';
import {
  Badge,
  Button,
  Card,
  ConfirmDialog,
  DataTable,
  EmptyState,
  TextField,
  toast,
  type Column,
} from '../../ui';
import type { Config } from './config';
import { ConfigDialog } from './config-dialog';
import { SourceBadge } from './source-badge';

type Provider = Config['providers'][number];

/** The accounts by which models are called. Those of versions can be changed here. */
export function ProviderAccounts({ config }: { config: Config }): ReactNode {
  const { can } = useSession();
  const [edited, setEdited] = useState<Provider | 'new'>();
  const [removed, setRemoved] = useState<Provider>();
  const remove = useChange(
    (provider: Provider) =>
      api.DELETE('/v1/admin/config/providers/{id}', { params: { path: { id: provider.id } } }),
    ['admin'],
    () => toast('The provider is out of the configuration.'),
  );
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
      header: 'Address',
      wide: true,
      cell: ({ base_url }) => <span className="mono">{base_url || '–'}</span>,
    },
    {
      header: 'Key',
      wide: true,
      cell: ({ api_key_preview }) => <span className="mono">{api_key_preview ?? '–'}</span>,
    },
    { header: 'From', cell: ({ source }) => <SourceBadge source={source} /> },
    {
      header: 'State',
      cell: ({ is_callable }) =>
        is_callable ? (
          <Badge tone="good">in use</Badge>
        ) : (
          <Badge tone="bad">can not be called</Badge>
        ),
    },
  ];
  const mayChange = can('operator:write');
  if (mayChange) {
    columns.push({
      header: 'Change',
      cell: (provider) =>
        provider.source === 'version' ? (
          <span className="row">
            <Button
              variant="quiet"
              aria-label={`Edit ${provider.name}`}
              onClick={() => setEdited(provider)}
            >
              Edit
            </Button>
            <Button
              variant="quiet"
              aria-label={`Remove ${provider.name}`}
              onClick={() => setRemoved(provider)}
            >
              Remove
            </Button>
          </span>
        ) : (
          <span className="muted">where it is declared</span>
        ),
    });
  }
  return (
    <>
      <Card
        title="Accounts"
        actions={mayChange && <Button onClick={() => setEdited('new')}>Add a provider</Button>}
      >
        <DataTable
          caption="Provider accounts"
          columns={columns}
          rows={config.providers}
          rowKey={({ id }) => id}
          empty={<EmptyState title="There is no account yet" />}
        />
      </Card>
      {edited && (
        <ProviderDialog
          latest={config.version}
          known={edited === 'new' ? undefined : edited}
          onClose={() => setEdited(undefined)}
        />
      )}
      {removed && (
        <ConfirmDialog
          title={`Remove ${removed.name}?`}
          text="Requests that it is answering go on; no other is sent to it. An earlier version brings it back, with its key."
          action="Remove"
          danger
          onClose={() => setRemoved(undefined)}
          onConfirm={() => remove.mutateAsync(removed)}
        />
      )}
    </>
  );
}

function ProviderDialog({
  latest,
  known,
  onClose,
}: {
  latest: number | null;
  known: Provider | undefined;
  onClose: () => void;
}): ReactNode {
  const [id, setId] = useState(known?.id ?? '');
  const [name, setName] = useState(known?.name ?? '');
  const [url, setUrl] = useState(known?.base_url ?? '');
  const [key, setKey] = useState('');
  return (
    <ConfigDialog
      title={known ? `Change ${known.name}` : 'Add a provider'}
      action={known ? 'Change' : 'Add'}
      latest={latest}
      onClose={onClose}
      send={(options) =>
        api.PUT('/v1/admin/config/providers/{id}', {
          params: { path: { id } },
          body: { provider: { name, base_url: url, ...(key && { api_key: key }) }, ...options },
        })
      }
    >
      <p className="muted">
        A server that speaks the chat API. Its models are called as <code>id/model</code>. Entries
        with further settings are changed as a document.
      </p>
      <TextField label="Id" value={id} required disabled={known !== undefined} onChange={setId} />
      <TextField label="Name" value={name} required onChange={setName} />
      <TextField
        label="Address"
        hint="With its version, as http://10.0.0.7:8000/v1"
        type="url"
        value={url}
        required
        onChange={setUrl}
      />
      <TextField
        label="Key"
        hint={
          known
            ? 'Empty: the key that is there stays, at the same address only'
            : 'Encrypted, and never shown again'
        }
        type="password"
        autoComplete="new-password"
        value={key}
        onChange={setKey}
      />
    </ConfigDialog>
  );
}
