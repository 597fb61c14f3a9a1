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

/** Operator keys, for scripts and for login without single sign-on. */
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
    () => toast('Key revoked.'),
  );
  const columns: Column<AdminKey>[] = [
    { header: 'Name', cell: (key) => <KeyName of={key} /> },
    { header: 'Role', cell: ({ role }) => role },
    { header: 'Status', cell: ({ status }) => <KeyStatus status={status} /> },
    {
      header: 'Last used',
      wide: true,
      cell: ({ last_used_at }) => <Time at={last_used_at} none="never" />,
    },
    {
      header: 'Valid until',
      wide: true,
      cell: ({ expires_at, revoked_at }) => <Time at={revoked_at ?? expires_at} none="no expiry" />,
    },
  ];
  if (can('operator:write')) {
    columns.push({
      header: 'Actions',
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
        title="Operator keys"
        actions={
          can('operator:write') && <Button onClick={() => setIsCreating(true)}>Create key</Button>
        }
      >
        <PagedTable
          query={keys}
          caption="Operator keys"
          columns={columns}
          rowKey={({ id }) => id}
          empty={
            <EmptyState title="No operator keys yet">
              <span>Scripts and operators without single sign-on use these keys.</span>
            </EmptyState>
          }
        />
      </Card>
      <MoreButton query={keys} />
      {isCreating && <CreateAdminKey onClose={() => setIsCreating(false)} />}
      {revoked && (
        <ConfirmDialog
          title={`Revoke ${revoked.name}?`}
          text="The key stops working within a second, and sessions opened with it end. This cannot be undone."
          action="Revoke key"
          danger
          onClose={() => setRevoked(undefined)}
          onConfirm={() => revoke.mutateAsync(revoked)}
        />
      )}
    </>
  );
}
