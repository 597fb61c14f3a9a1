import { lazy, Suspense } from 'react';
import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
} from '@tanstack/react-router';
import { PAGES, type PageEntry } from './pages';
import { AccessiblePage, NotFound, PageFailure } from './shell/page-frame';
import { Root } from './shell/root';
import { Skeleton } from './ui';

const rootRoute = createRootRoute({ component: Root, notFoundComponent: NotFound });

const loginRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/login',
  component: lazyRouteComponent(() => import('./pages/login/login.page'), 'LoginPage'),
});

function routeOf(page: PageEntry) {
  const Component = lazy(async () => ({ default: await page.load() }));
  return createRoute({
    getParentRoute: () => rootRoute,
    path: page.path,
    // Fetches the page's code while the session loads, or while a link to it is hovered.
    loader: () => void page.load().catch(() => undefined),
    component: () => (
      <AccessiblePage right={page.right}>
        <Suspense fallback={<Skeleton />}>
          <Component />
        </Suspense>
      </AccessiblePage>
    ),
  });
}

/** Creates the console's routes. Query values stay strings: filters are compared and sent unchanged. */
export function makeRouter() {
  return createRouter({
    routeTree: rootRoute.addChildren([loginRoute, ...PAGES.map(routeOf)]),
    basepath: '/console',
    defaultPreload: 'intent',
    defaultErrorComponent: PageFailure,
    scrollRestoration: true,
    parseSearch: (search) => Object.fromEntries(new URLSearchParams(search)),
    stringifySearch: (search) => {
      const entries = Object.entries(search).filter(([, value]) => value != null && value !== '');
      const text = new URLSearchParams(
        entries.map(([name, value]) => [name, String(value)]),
      ).toString();
      return text === '' ? '' : `?${text}`;
    },
  });
}
