import { useQuery } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { api } from '../../api/client';
import { useChange } from '../../api/changes';
import { useSession } from '../../session/session';
import {
  ActionButton,
  Button,
  Card,
  ConfirmDialog,
  DataTable,
  EmptyState,
  QueryState,
  Time,
  toast,
  type Column,
} from '../../ui';
import { ScopeLabel } from '../../parts/scope-label';
import { nameOf, resultOf, type Account } from './account';
import { AccountForm } from './account-form';

/** The tenant's BYOK accounts, which serve its requests before shared capacity. */
export function Accounts(): ReactNode {
  const { can } = useSession();
  const [isAdding, setIsAdding] = useState(false);
  const [rotated, setRotated] = useState<Account>();
  const [removed, setRemoved] = useState<Account>();
  const accounts = useQuery({
    queryKey: ['accounts'],
    queryFn: ({ signal }) => api.GET('/v1/customer/provider-credentials', { signal }),
  });
  const remove = useChange(
    ({ id }: Account) =>
      api.DELETE('/v1/customer/provider-credentials/{id}', { params: { path: { id } } }),
    ['accounts', 'models'],
    () => toast('Account removed. Requests use shared capacity.'),
  );
  const columns: Column<Account>[] = [
    {
      header: 'Provider',
      cell: ({ provider, name }) => (
        <>
          {name ?? provider}
          {name !== null && (
            <>
              <br />
              <small className="muted">{provider}</small>
            </>
          )}
        </>
      ),
    },
    { header: 'Key', cell: ({ key_preview }) => <code>{key_preview}</code> },
    {
      header: 'Settings',
      wide: true,
      cell: ({ settings }) =>
        Object.entries(settings)
          .map(([name, value]) => `${name}: ${value}`)
          .join(', ') || '–',
    },
    {
      header: 'On failure',
      wide: true,
      cell: ({ allow_shared_fallback }) =>
        allow_shared_fallback ? 'fall back to shared capacity' : 'return the error',
    },
    { header: 'Scope', cell: ({ scope }) => <ScopeLabel scope={scope} /> },
    { header: 'Last used', cell: ({ last_used_at }) => <Time at={last_used_at} none="never" /> },
    ...(can('own')
      ? [
          {
            header: 'Actions',
            cell: (account: Account) => (
              <div className="row">
                <ActionButton
                  aria-label={`Test ${nameOf(account)}`}
                  action={async () => {
                    const params = { path: { id: account.id } };
                    const check = await api.POST('/v1/customer/provider-credentials/{id}/test', {
                      params,
                    });
                    toast(resultOf(check), check.ok ? 'good' : 'bad');
                  }}
                >
                  Test
                </ActionButton>
                <Button
                  aria-label={`Replace key of ${nameOf(account)}`}
                  onClick={() => setRotated(account)}
                >
                  Replace key
                </Button>
                <Button
                  variant="danger"
                  aria-label={`Remove ${nameOf(account)}`}
                  onClick={() => setRemoved(account)}
                >
                  Remove
                </Button>
              </div>
            ),
          },
        ]
      : []),
  ];
  return (
    <Card
      title="BYOK accounts"
      actions={
        can('own') && (
          <Button variant="primary" onClick={() => setIsAdding(true)}>
            Add account
          </Button>
        )
      }
    >
      <QueryState query={accounts}>
        {({ data }) => (
          <DataTable
            caption="BYOK accounts"
            columns={columns}
            rows={data}
            rowKey={({ id }) => id}
            empty={
              <EmptyState title="No BYOK accounts yet">
                Bring your own key to have a vendor bill you directly; the gateway charges a small
                fee.
                {can('own') ? ' Keys are stored encrypted.' : ' Ask an owner to add one.'}
              </EmptyState>
            }
          />
        )}
      </QueryState>
      {(isAdding || rotated) && (
        <AccountForm
          replaces={rotated}
          onClose={() => {
            setIsAdding(false);
            setRotated(undefined);
          }}
        />
      )}
      {removed && (
        <ConfirmDialog
          title={`Remove ${nameOf(removed)}?`}
          text="Its key is deleted. Requests to this provider use shared capacity at its price."
          action="Remove account"
          danger
          onClose={() => setRemoved(undefined)}
          onConfirm={() => remove.mutateAsync(removed)}
        />
      )}
    </Card>
  );
}
