import { Link, useLocation } from '@tanstack/react-router';
import { lazy, Suspense, useCallback, useEffect, useState, type ReactNode } from 'react';
import { PAGES, type PageEntry } from '../pages';
import { useSession } from '../session/session';
import { Button } from '../ui';
import { AccountMenu, TenantMenu } from './menus';

const Palette = lazy(() =>
  import('./palette').then(({ Palette: component }) => ({ default: component })),
);

const GROUPS: readonly { group: PageEntry['group']; label: string }[] = [
  { group: 'tenant', label: 'Tenant' },
  { group: 'operator', label: 'Operator' },
];

/** The frame of every page: header, menu and command palette. */
export function Shell({ children }: { children: ReactNode }): ReactNode {
  const { pathname } = useLocation();
  const [isMenuOpen, setIsMenuOpen] = useState(false);
  const [isPaletteOpen, setIsPaletteOpen] = useState(false);
  useEffect(() => setIsMenuOpen(false), [pathname]);
  const openPalette = useCallback(() => setIsPaletteOpen(true), []);
  useShortcuts(openPalette);
  return (
    <div className="shell">
      <a className="skip-link button" href="#main">
        Skip to content
      </a>
      <header className="shell-head">
        <Button
          variant="quiet"
          aria-label="Menu"
          aria-expanded={isMenuOpen}
          aria-controls="menu"
          data-narrow=""
          onClick={() => setIsMenuOpen(!isMenuOpen)}
        >
          ☰
        </Button>
        <Link to="/" className="shell-name">
          Model Gateway
        </Link>
        <TenantMenu />
        <span className="shell-space" />
        <Button onClick={openPalette} aria-keyshortcuts="Control+K Meta+K">
          Go to… <kbd aria-hidden="true">Ctrl K</kbd>
        </Button>
        <AccountMenu />
      </header>
      <Menu isOpen={isMenuOpen} />
      <main id="main" tabIndex={-1}>
        {children}
      </main>
      {isPaletteOpen && (
        <Suspense>
          <Palette onClose={() => setIsPaletteOpen(false)} />
        </Suspense>
      )}
    </div>
  );
}

function Menu({ isOpen }: { isOpen: boolean }): ReactNode {
  const { can, tenant } = useSession();
  return (
    <nav id="menu" className="shell-menu" aria-label="Pages" data-open={isOpen || undefined}>
      {GROUPS.map(({ group, label }) => {
        const pages = PAGES.filter((page) => page.group === group && page.label && can(page.right));
        return (
          pages.length > 0 && (
            <div key={group} className="shell-group">
              <h2>{group === 'tenant' ? (tenant?.name ?? label) : label}</h2>
              {pages.map((page) => (
                <Link
                  key={page.path}
                  to={page.path}
                  activeOptions={{ exact: page.path === '/', includeSearch: false }}
                >
                  {page.label}
                </Link>
              ))}
            </div>
          )
        );
      })}
    </nav>
  );
}

/** Ctrl+K opens the palette; `/` focuses the page's search, or opens the palette if there is none. */
function useShortcuts(openPalette: () => void): void {
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === 'k') {
        event.preventDefault();
        openPalette();
      } else if (event.key === '/' && !isTyping(event.target)) {
        event.preventDefault();
        const search = document.querySelector<HTMLInputElement>('main input[type="search"]');
        if (search) search.focus();
        else openPalette();
      }
    };
    document.addEventListener('keydown', onKey);
    return () => document.removeEventListener('keydown', onKey);
  }, [openPalette]);
}

function isTyping(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement && target.matches('input, textarea, select, [contenteditable]')
  );
}
