import { useState, type ReactNode } from 'react';
import { useChange } from '../../api/changes';
import { api } from '../../api/client';
import { useCursorList } from '../../api/queries';
import { formatCount } from '../../format/credits';
import { KeyName, KeyStatus } from '../../parts/key-cells';
import { useSession } from '../../session/session';
import {
  Button,
  Card,
  ConfirmDialog,
  Credits,
  EmptyState,
  MoreButton,
  PagedTable,
  Time,
  toast,
  type Column,
} from '../../ui';
import { KeyDialog } from './key-dialog';
import type { Tenant, TenantKey } from './tenant';

/** The tenant's keys, with actions for operators. */
export function TenantKeys({ tenant }: { tenant: Tenant }): ReactNode {
  const { can } = useSession();
  const [edited, setEdited] = useState<TenantKey | 'new'>();
  const [revoked, setRevoked] = useState<TenantKey>();
  const mayChange = can('operator:write') && tenant.status !== 'deleted';
  const keys = useCursorList(['admin', 'tenants', tenant.id, 'keys'], (query, signal) =>
    api.GET('/v1/admin/tenants/{tenant_id}/api-keys', {
      params: { path: { tenant_id: tenant.id }, query },
      signal,
    }),
  );
  const revoke = useChange(
    ({ id }: TenantKey) =>
      api.DELETE('/v1/admin/tenants/{tenant_id}/api-keys/{key_id}', {
        params: { path: { tenant_id: tenant.id, key_id: id } },
      }),
    ['admin'],
    () => toast('Key revoked.'),
  );
  const columns: Column<TenantKey>[] = [
    { header: 'Name', cell: (key) => <KeyName of={key} /> },
    { header: 'Type', cell: ({ type }) => type },
    { header: 'Status', cell: ({ status }) => <KeyStatus status={status} /> },
    { header: 'Spent', align: 'end', cell: ({ total_spend }) => <Credits value={total_spend} /> },
    {
      header: 'Requests per minute',
      align: 'end',
      wide: true,
      cell: ({ rate_limit_per_minute }) => formatCount(rate_limit_per_minute),
    },
    {
      header: 'Last used',
      wide: true,
      cell: ({ last_used_at }) => <Time at={last_used_at} none="never" />,
    },
  ];
  if (mayChange) {
    columns.push({
      header: 'Actions',
      cell: (key) =>
        key.status !== 'revoked' && (
          <span className="row">
            <Button variant="quiet" aria-label={`Edit ${key.name}`} onClick={() => setEdited(key)}>
              Edit
            </Button>
            <Button
              variant="quiet"
              aria-label={`Revoke ${key.name}`}
              onClick={() => setRevoked(key)}
            >
              Revoke
            </Button>
          </span>
        ),
    });
  }
  return (
    <>
      {mayChange && (
        <div className="row row-end">
          <Button onClick={() => setEdited('new')}>Create key</Button>
        </div>
      )}
      <Card>
        <PagedTable
          query={keys}
          caption="API keys"
          columns={columns}
          rowKey={({ id }) => id}
          empty={
            <EmptyState title="No API keys yet">
              <span>The tenant calls models with a routing key. Create one to start.</span>
            </EmptyState>
          }
        />
      </Card>
      <MoreButton query={keys} />
      {edited && (
        <KeyDialog
          tenant={tenant}
          known={edited === 'new' ? undefined : edited}
          onClose={() => setEdited(undefined)}
        />
      )}
      {revoked && (
        <ConfirmDialog
          title={`Revoke ${revoked.name}?`}
          text="The key stops working within a second. This cannot be undone."
          action="Revoke key"
          danger
          onClose={() => setRevoked(undefined)}
          onConfirm={() => revoke.mutateAsync(revoked)}
        />
      )}
    </>
  );
}
