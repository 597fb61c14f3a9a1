import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { Command } from 'cmdk';
import { Dialog } from 'radix-ui';
import { useDeferredValue, useState, type ReactNode } from 'react';
import { api } from '../api/client';
import { PAGES } from '../pages';
import { useSession } from '../session/session';
import { toast, useRestoreFocus } from '../ui';
import { chooseTheme, THEMES } from './theme';

const REQUEST_ID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** The command palette: opens pages, requests and tenants, and runs menu actions by keyboard. */
export function Palette({ onClose }: { onClose: () => void }): ReactNode {
  const { can, tenant, chooseTenant, logOut } = useSession();
  const [text, setText] = useState('');
  const navigate = useNavigate();
  const restoreFocusProps = useRestoreFocus();
  const pages = PAGES.filter((page) => page.label !== undefined && can(page.right));
  const tenants = useTenants(text);
  const requestId = REQUEST_ID.test(text.trim()) ? text.trim() : undefined;
  const go = (action: () => unknown) => {
    onClose();
    action();
  };
  const actions = [
    ...(can('develop')
      ? [{ label: 'Getting started', kind: 'Page', run: () => void navigate({ to: '/welcome' }) }]
      : []),
    ...THEMES.map(({ theme, label }) => ({
      label,
      kind: 'Theme',
      run: () => chooseTheme(theme),
    })),
    {
      label: 'API reference',
      kind: 'Opens a new tab',
      run: () => window.open('/docs', '_blank', 'noopener'),
    },
    {
      label: 'Log out',
      kind: 'Account',
      run: () => logOut().catch((error: Error) => toast(error.message, 'bad')),
    },
  ];
  return (
    <Dialog.Root open onOpenChange={(open) => !open && onClose()}>
      <Dialog.Portal>
        <Dialog.Overlay className="overlay" />
        <Dialog.Content
          className="dialog palette"
          aria-label="Command palette"
          aria-describedby={undefined}
          {...restoreFocusProps}
        >
          <Command label="Command palette">
            <Command.Input
              className="input"
              placeholder="Page, tenant or request id…"
              value={text}
              onValueChange={setText}
            />
            <Command.List>
              <Command.Empty className="menu-label">No results</Command.Empty>
              {requestId !== undefined && can('read') && (
                <Command.Item
                  value={requestId}
                  className="menu-item"
                  onSelect={() =>
                    go(() => void navigate({ to: '/requests/$requestId', params: { requestId } }))
                  }
                >
                  {requestId} <span className="muted">Open request</span>
                </Command.Item>
              )}
              {pages.map(({ path, label, group }) => (
                <Command.Item
                  key={path}
                  value={`${label} ${group}`}
                  className="menu-item"
                  onSelect={() => go(() => void navigate({ to: path }))}
                >
                  {label}
                  <span className="muted">{group === 'operator' ? 'Operator' : tenant?.name}</span>
                </Command.Item>
              ))}
              {tenants.map((other) => (
                <Command.Item
                  key={other.id}
                  value={`tenant ${other.name}`}
                  className="menu-item"
                  onSelect={() => go(() => chooseTenant(other))}
                >
                  {other.name} <span className="muted">Switch tenant</span>
                </Command.Item>
              ))}
              {actions.map(({ label, kind, run }) => (
                <Command.Item
                  key={label}
                  value={`${label} ${kind}`}
                  className="menu-item"
                  onSelect={() => go(run)}
                >
                  {label} <span className="muted">{kind}</span>
                </Command.Item>
              ))}
            </Command.List>
          </Command>
        </Dialog.Content>
      </Dialog.Portal>
    </Dialog.Root>
  );
}

/** Returns selectable tenants: a member's own, and for operators those that match the text. */
function useTenants(text: string): readonly { id: string; name: string }[] {
  const { session, tenant, can } = useSession();
  const search = useDeferredValue(text.trim());
  const found = useQuery({
    queryKey: ['tenants', 'palette', search],
    queryFn: ({ signal }) =>
      api.GET('/v1/admin/tenants', {
        params: { query: { search, status: 'active', limit: 10 } },
        signal,
      }),
    enabled: can('operator:read') && search.length > 1,
    placeholderData: (before) => before,
  });
  const all = [...session.tenants, ...(found.data?.data ?? [])];
  const known = new Map(all.map(({ id, name }) => [id, { id, name }]));
  return [...known.values()].filter(({ id }) => id !== tenant?.id);
}
