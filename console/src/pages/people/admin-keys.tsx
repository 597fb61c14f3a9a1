import { useState, type ReactNode } from 'react';
import { useChange } from '../../api/changes';
import { api } from '../../api/client';
import { useCursorList } from '../../api/queries';
import type { components } from '../../api/schema';
import { KeyName, KeyStatus } from '../../parts/key-cells';
import { useSession } from '../../session/session';
import {
  Button,
  Card,
  ConfirmDialog,
  EmptyState,
  MoreButton,
  PagedTable,
  Time,
  toast,
  type Column,
} from '../../ui';
import { CreateAdminKey } from './create-admin-key';

type AdminKey = components['schemas']['AdminKey'];

/** Keys of operators, for scripts and for logging in where there is no login service. */
export function AdminKeys(): ReactNode {
  const { can } = useSession();
  const [isCreating, setIsCreating] = useState(false);
  const [revoked, setRevoked] = useState<AdminKey>();
  const keys = useCursorList(['admin', 'keys'], (query, signal) =>
    api.GET('/v1/admin/keys', { params: { query }, signal }),
  );
  const revoke = useChange(
    ({ id }: AdminKey) => api.DELETE('/v1/admin/keys/{id}', { params: { path: { id } } }),
    ['admin'],
    () => toast('The key is revoked.'),
  );
  const columns: Column<AdminKey>[] = [
    { header: 'Name', cell: (key) => <KeyName of={key} /> },
    { header: 'Role', cell: ({ role }) => role },
    { header: 'State', cell: ({ status }) => <KeyStatus status={status} /> },
    {
      header: 'Last used',
      wide: true,
      cell: ({ last_used_at }) => <Time at={last_used_at} none="never" />,
    },
    {
      header: 'Until',
      wide: true,
      cell: ({ expires_at, revoked_at }) => <Time at={revoked_at ?? expires_at} none="no end" />,
    },
  ];
  if (can('operator:write')) {
    columns.push({
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
        <PagedTable
          query={keys}
          caption="Keys of operators"
          columns={columns}
          rowKey={({ id }) => id}
          empty={<EmptyState title="There is no key" />}
        />
      </Card>
      <MoreButton query={keys} />
      {isCreating && <CreateAdminKey onClose={() => setIsCreating(false)} />}
      {revoked && (
        <ConfirmDialog
          title={`Revoke ${revoked.name}?`}
          text="It stops working at once, on other instances within a second, and so do sessions that began with it. It can not be undone."
          action="Revoke"
          danger
          onClose={() => setRevoked(undefined)}
          onConfirm={() => revoke.mutateAsync(revoked)}
        />
      )}
    </>
  );
}
