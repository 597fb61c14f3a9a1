import { useNavigate } from '@tanstack/react-router';
import { DropdownMenu } from 'radix-ui';
import { useState, type ReactNode } from 'react';
import { useSession } from '../session/session';
import { Button, toast } from '../ui';
import { chooseTheme, readTheme, THEMES } from './theme';

/** Switches the tenant. Operators find others in the tenant list. */
export function TenantMenu(): ReactNode {
  const { session, tenant, chooseTenant, can } = useSession();
  const navigate = useNavigate();
  const others = session.tenants.filter(({ id }) => id !== tenant?.id);
  const isOperator = can('operator:read');
  if (others.length === 0 && !isOperator)
    return <span className="shell-tenant">{tenant?.name}</span>;
  return (
    <DropdownMenu.Root>
      <DropdownMenu.Trigger asChild>
        <Button>
          {tenant && <span className="visually-hidden">Tenant: </span>}
          <span className="shell-tenant">{tenant?.name ?? 'Select tenant'}</span>
          <span aria-hidden="true">▾</span>
        </Button>
      </DropdownMenu.Trigger>
      <DropdownMenu.Portal>
        <DropdownMenu.Content className="menu" align="start" sideOffset={4}>
          {others.map((other) => (
            <DropdownMenu.Item
              key={other.id}
              className="menu-item"
              onSelect={() => chooseTenant(other)}
            >
              {other.name}
            </DropdownMenu.Item>
          ))}
          {isOperator && (
            <DropdownMenu.Item
              className="menu-item"
              onSelect={() => void navigate({ to: '/tenants' })}
            >
              All tenants…
            </DropdownMenu.Item>
          )}
        </DropdownMenu.Content>
      </DropdownMenu.Portal>
    </DropdownMenu.Root>
  );
}

/** Shows the account, the theme choice and the logout. */
export function AccountMenu(): ReactNode {
  const { session, tenant, logOut } = useSession();
  const [theme, setTheme] = useState(readTheme);
  const role = session.operator_role ?? session.tenants.find(({ id }) => id === tenant?.id)?.role;
  const handleLogOut = () => logOut().catch((error: Error) => toast(error.message, 'bad'));
  return (
    <DropdownMenu.Root>
      <DropdownMenu.Trigger asChild>
        <Button variant="quiet" aria-label={`Account: ${session.name}`}>
          <span className="shell-account">{session.name}</span> <span aria-hidden="true">▾</span>
        </Button>
      </DropdownMenu.Trigger>
      <DropdownMenu.Portal>
        <DropdownMenu.Content className="menu" align="end" sideOffset={4}>
          <div className="menu-label">
            {session.email ?? session.name} · {role}
          </div>
          <DropdownMenu.RadioGroup
            value={theme}
            onValueChange={(value) => {
              const chosen = THEMES.find((entry) => entry.theme === value)?.theme ?? 'system';
              chooseTheme(chosen);
              setTheme(chosen);
            }}
          >
            <div className="menu-label">Theme</div>
            {THEMES.map((entry) => (
              <DropdownMenu.RadioItem key={entry.theme} value={entry.theme} className="menu-item">
                {entry.label}
                <DropdownMenu.ItemIndicator>✓</DropdownMenu.ItemIndicator>
              </DropdownMenu.RadioItem>
            ))}
          </DropdownMenu.RadioGroup>
          <DropdownMenu.Separator />
          <DropdownMenu.Item
            className="menu-item"
            onSelect={() => window.open('/docs', '_blank', 'noopener')}
          >
            API reference
          </DropdownMenu.Item>
          <DropdownMenu.Item className="menu-item" onSelect={() => void handleLogOut()}>
            Log out
          </DropdownMenu.Item>
        </DropdownMenu.Content>
      </DropdownMenu.Portal>
    </DropdownMenu.Root>
  );
}
