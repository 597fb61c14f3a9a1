import { useNavigate } from '@tanstack/react-router';
import { Command } from 'cmdk';
import { Dialog } from 'radix-ui';
import type { ReactNode } from 'react';
import { PAGES } from '../pages';
import { useSession } from '../session/session';
import { useFocusBack } from '../ui';

/** Goes to any page by its name, without the mouse. */
export function Palette({ onClose }: { onClose: () => void }): ReactNode {
  const { can, session, tenant, chooseTenant } = useSession();
  const navigate = useNavigate();
  const focusBack = useFocusBack();
  const pages = PAGES.filter((page) => page.label !== undefined && can(page.right));
  const tenants = session.tenants.filter(({ id }) => id !== tenant?.id);
  const go = (action: () => unknown) => {
    onClose();
    action();
  };
  return (
    <Dialog.Root open onOpenChange={(open) => !open && onClose()}>
      <Dialog.Portal>
        <Dialog.Overlay className="overlay" />
        <Dialog.Content
          className="dialog palette"
          aria-label="Go to a page"
          aria-describedby={undefined}
          {...focusBack}
        >
          <Command label="Go to a page">
            <Command.Input className="input" placeholder="Go to a page…" />
            <Command.List>
              <Command.Empty className="menu-label">No page has this name.</Command.Empty>
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
                  {other.name} <span className="muted">Switch to this tenant</span>
                </Command.Item>
              ))}
            </Command.List>
          </Command>
        </Dialog.Content>
      </Dialog.Portal>
    </Dialog.Root>
  );
}
