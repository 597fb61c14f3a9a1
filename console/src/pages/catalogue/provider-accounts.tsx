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

/** The provider accounts. Only those from configuration versions can be edited here. */
export function ProviderAccounts({ config }: { config: Config }): ReactNode {
  const { can } = useSession();
  const [edited, setEdited] = useState<Provider | 'new'>();
  const [removed, setRemoved] = useState<Provider>();
  const remove = useChange(
    (provider: Provider) =>
      api.DELETE('/v1/admin/config/providers/{id}', { params: { path: { id: provider.id } } }),
    ['admin'],
    () => toast('Provider removed.'),
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
      header: 'Base URL',
      wide: true,
      cell: ({ base_url }) => <span className="mono">{base_url || '–'}</span>,
    },
    {
      header: 'Key',
      wide: true,
      cell: ({ api_key_preview }) => <span className="mono">{api_key_preview ?? '–'}</span>,
    },
    { header: 'Source', cell: ({ source }) => <SourceBadge source={source} /> },
    {
      header: 'State',
      cell: ({ is_callable }) =>
        is_callable ? <Badge tone="good">in use</Badge> : <Badge tone="bad">not callable</Badge>,
    },
  ];
  const mayChange = can('operator:write');
  if (mayChange) {
    columns.push({
      header: 'Actions',
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
          <span className="muted">edit at its source</span>
        ),
    });
  }
  return (
    <>
      <Card
        title="Accounts"
        actions={mayChange && <Button onClick={() => setEdited('new')}>Add provider</Button>}
      >
        <DataTable
          caption="Provider accounts"
          columns={columns}
          rows={config.providers}
          rowKey={({ id }) => id}
          empty={
            <EmptyState title="No provider accounts yet">
              <span>Provider accounts serve models to all tenants.</span>
              {mayChange && (
                <Button variant="primary" onClick={() => setEdited('new')}>
                  Add provider
                </Button>
              )}
            </EmptyState>
          }
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
          text="Requests in progress finish; no new ones are sent to it. To restore it with its key, roll back to an earlier version."
          action="Remove provider"
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
      title={known ? `Edit ${known.name}` : 'Add provider'}
      action={known ? 'Save' : 'Add provider'}
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
        An OpenAI-compatible server. Its models are called as <code>id/model</code>. Edit entries
        with other settings as JSON.
      </p>
      <TextField label="Id" value={id} required disabled={known !== undefined} onChange={setId} />
      <TextField label="Name" value={name} required onChange={setName} />
      <TextField
        label="Base URL"
        hint="Including the version, such as http://10.0.0.7:8000/v1"
        type="url"
        value={url}
        required
        onChange={setUrl}
      />
      <TextField
        label="API key"
        hint={
          known
            ? 'Leave empty to keep the stored key. A new base URL requires the key again.'
            : 'Stored encrypted and never shown again.'
        }
        type="password"
        autoComplete="new-password"
        value={key}
        onChange={setKey}
      />
    </ConfigDialog>
  );
}
