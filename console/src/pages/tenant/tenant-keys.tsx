import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { api, unwrap } from '../../api/client';
import { useCursorList } from '../../api/queries';
import { formatCount } from '../../format/credits';
import { useSession } from '../../session/session';
import {
  Badge,
  Button,
  Card,
  ConfirmDialog,
  Credits,
  DataTable,
  EmptyState,
  MoreButton,
  QueryState,
  Time,
  toast,
  type Column,
  type Tone,
} from '../../ui';
import { KeyDialog } from './key-dialog';
import type { Tenant, TenantKey } from './tenant';

const TONE_OF_STATUS: Record<TenantKey['status'], Tone> = {
  active: 'good',
  expired: 'warn',
  revoked: 'neutral',
};

/** The tenant's keys, which the operator may make, change and revoke. */
export function TenantKeys({ tenant }: { tenant: Tenant }): ReactNode {
  const { can } = useSession();
  const client = useQueryClient();
  const [edited, setEdited] = useState<TenantKey | 'new'>();
  const [revoked, setRevoked] = useState<TenantKey>();
  const mayChange = can('operator:write') && tenant.status !== 'deleted';
  const queryKey = ['admin', 'tenants', tenant.id, 'keys'];
  const keys = useCursorList(queryKey, (cursor, signal) =>
    unwrap(
      api.GET('/v1/admin/tenants/{tenant_id}/api-keys', {
        params: { path: { tenant_id: tenant.id }, query: cursor ? { cursor } : {} },
        signal,
      }),
    ),
  );
  const revoke = useMutation({
    mutationFn: (key: TenantKey) =>
      unwrap(
        api.DELETE('/v1/admin/tenants/{tenant_id}/api-keys/{key_id}', {
          params: { path: { tenant_id: tenant.id, key_id: key.id } },
        }),
      ),
    onSuccess: () => {
      toast('The key is revoked.');
      return client.invalidateQueries({ queryKey });
    },
  });
  const columns: Column<TenantKey>[] = [
    {
      id: 'name',
      header: 'Name',
      cell: ({ name, key_preview }) => (
        <>
          {name}
          <br />
          <span className="mono muted">{key_preview}</span>
        </>
      ),
    },
    { id: 'type', header: 'Type', cell: ({ type }) => type },
    {
      id: 'status',
      header: 'State',
      cell: ({ status }) => <Badge tone={TONE_OF_STATUS[status]}>{status}</Badge>,
    },
    {
      id: 'spend',
      header: 'Spent',
      align: 'end',
      cell: ({ total_spend }) => <Credits value={total_spend} />,
    },
    {
      id: 'rate',
      header: 'Requests a minute',
      align: 'end',
      wide: true,
      cell: ({ rate_limit_per_minute }) => formatCount(rate_limit_per_minute),
    },
    {
      id: 'used',
      header: 'Last used',
      wide: true,
      cell: ({ last_used_at }) => <Time at={last_used_at} none="never" />,
    },
  ];
  if (mayChange) {
    columns.push({
      id: 'change',
      header: 'Change',
      cell: (key) =>
        key.status !== 'revoked' && (
          <span className="row">
            <Button
              variant="quiet"
              aria-label={`Change ${key.name}`}
              onClick={() => setEdited(key)}
            >
              Change
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
          <Button onClick={() => setEdited('new')}>Make a key</Button>
        </div>
      )}
      <Card>
        <QueryState query={keys}>
          {({ pages }) => (
            <DataTable
              caption="Keys"
              columns={columns}
              rows={pages.flatMap(({ data }) => data)}
              rowKey={({ id }) => id}
              empty={
                <EmptyState title="The tenant has no key">
                  <span>Make a routing key, and it can call models.</span>
                </EmptyState>
              }
            />
          )}
        </QueryState>
      </Card>
      <MoreButton query={keys} />
      {edited && (
        <KeyDialog
          tenant={tenant}
          known={edited === 'new' ? undefined : edited}
          onClose={() => setEdited(undefined)}
        />
      )}
      <ConfirmDialog
        title={`Revoke ${revoked?.name ?? ''}?`}
        text="Within a second it opens nothing any more. It can not be undone."
        action="Revoke"
        danger
        open={revoked !== undefined}
        onOpenChange={() => setRevoked(undefined)}
        onConfirm={async () => {
          if (revoked) await revoke.mutateAsync(revoked);
        }}
      />
    </>
  );
}
