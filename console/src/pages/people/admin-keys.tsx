import { useQueryClient } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { api, unwrap } from '../../api/client';
import { useCursorList } from '../../api/queries';
import type { components } from '../../api/schema';
import { useSession } from '../../session/session';
import {
  Badge,
  Button,
  Card,
  ConfirmDialog,
  DataTable,
  EmptyState,
  MoreButton,
  QueryState,
  Time,
  toast,
  type Column,
  type Tone,
} from '../../ui';
import { CreateAdminKey } from './create-admin-key';

type AdminKey = components['schemas']['AdminKey'];

const TONE_OF_STATUS: Record<AdminKey['status'], Tone> = {
  active: 'good',
  expired: 'warn',
  revoked: 'neutral',
};

/** Keys of operators, for scripts and for logging in where there is no login service. */
export function AdminKeys(): ReactNode {
  const { can } = useSession();
  const client = useQueryClient();
  const [isCreating, setIsCreating] = useState(false);
  const [revoked, setRevoked] = useState<AdminKey>();
  const queryKey = ['admin', 'keys'];
  const keys = useCursorList(queryKey, (cursor, signal) =>
    unwrap(api.GET('/v1/admin/keys', { params: { query: cursor ? { cursor } : {} }, signal })),
  );
  const columns: Column<AdminKey>[] = [
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
    { id: 'role', header: 'Role', cell: ({ role }) => role },
    {
      id: 'status',
      header: 'State',
      cell: ({ status }) => <Badge tone={TONE_OF_STATUS[status]}>{status}</Badge>,
    },
    {
      id: 'used',
      header: 'Last used',
      wide: true,
      cell: ({ last_used_at }) => <Time at={last_used_at} none="never" />,
    },
    {
      id: 'expires',
      header: 'Until',
      wide: true,
      cell: ({ expires_at, revoked_at }) => <Time at={revoked_at ?? expires_at} none="no end" />,
    },
  ];
  if (can('operator:write')) {
    columns.push({
      id: 'act',
      header: 'Change',
      cell: (key) =>
        key.status !== 'revoked' && (
          <Button variant="quiet" aria-label={`Revoke ${key.name}`} onClick={() => setRevoked(key)}>
            Revoke
          </Button>
        ),
    });
  }
  return (
    <>
      <Card
        title="Keys of operators"
        actions={
          can('operator:write') && <Button onClick={() => setIsCreating(true)}>Make a key</Button>
        }
      >
        <QueryState query={keys}>
          {({ pages }) => (
            <DataTable
              caption="Keys of operators"
              columns={columns}
              rows={pages.flatMap(({ data }) => data)}
              rowKey={({ id }) => id}
              empty={<EmptyState title="There is no key" />}
            />
          )}
        </QueryState>
      </Card>
      <MoreButton query={keys} />
      {isCreating && <CreateAdminKey onClose={() => setIsCreating(false)} />}
      <ConfirmDialog
        title={`Revoke ${revoked?.name ?? ''}?`}
        text="It stops working at once, on other instances within a second, and so do sessions that began with it. It can not be undone."
        action="Revoke"
        danger
        open={revoked !== undefined}
        onOpenChange={() => setRevoked(undefined)}
        onConfirm={async () => {
          await unwrap(
            api.DELETE('/v1/admin/keys/{id}', { params: { path: { id: revoked?.id ?? '' } } }),
          );
          toast('The key is revoked.');
          await client.invalidateQueries({ queryKey });
        }}
      />
    </>
  );
}
