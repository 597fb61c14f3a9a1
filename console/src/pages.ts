import type { ComponentType } from 'react';
import type { Right } from './session/session';

export interface PageEntry {
  /** Path below /console; `$name` is a path parameter. */
  path: string;
  /** Name in the menu and the palette; pages without one are reached from other pages. */
  label?: string;
  /** Menu section. */
  group: 'tenant' | 'operator';
  /** Right required to see the page. */
  right: Right;
  load: () => Promise<ComponentType>;
}

/** Lists every page after login, in menu order. */
export const PAGES: readonly PageEntry[] = [
  {
    path: '/',
    label: 'Overview',
    group: 'tenant',
    right: 'money',
    load: async () => (await import('./pages/overview/overview.page')).OverviewPage,
  },
  {
    path: '/welcome',
    group: 'tenant',
    right: 'develop',
    load: async () => (await import('./pages/welcome/welcome.page')).WelcomePage,
  },
  {
    path: '/requests',
    label: 'Requests',
    group: 'tenant',
    right: 'read',
    load: async () => (await import('./pages/requests/requests.page')).RequestsPage,
  },
  {
    path: '/requests/$requestId',
    group: 'tenant',
    right: 'read',
    load: async () => (await import('./pages/requests/request.page')).RequestPage,
  },
  {
    path: '/playground',
    label: 'Playground',
    group: 'tenant',
    right: 'develop',
    load: async () => (await import('./pages/playground/playground.page')).PlaygroundPage,
  },
  {
    path: '/models',
    label: 'Models',
    group: 'tenant',
    right: 'any',
    load: async () => (await import('./pages/models/models.page')).ModelsPage,
  },
  {
    path: '/keys',
    label: 'API keys',
    group: 'tenant',
    right: 'money',
    load: async () => (await import('./pages/keys/keys.page')).KeysPage,
  },
  {
    path: '/guardrails',
    label: 'Guardrails',
    group: 'tenant',
    right: 'read',
    load: async () => (await import('./pages/guardrails/guardrails.page')).GuardrailsPage,
  },
  {
    path: '/jobs',
    label: 'Jobs',
    group: 'tenant',
    right: 'read',
    load: async () => (await import('./pages/jobs/jobs.page')).JobsPage,
  },
  {
    path: '/billing',
    label: 'Billing',
    group: 'tenant',
    right: 'money',
    load: async () => (await import('./pages/billing/billing.page')).BillingPage,
  },
  {
    path: '/integrations',
    label: 'Integrations',
    group: 'tenant',
    right: 'read',
    load: async () => (await import('./pages/integrations/integrations.page')).IntegrationsPage,
  },
  {
    path: '/members',
    label: 'Members',
    group: 'tenant',
    right: 'read',
    load: async () => (await import('./pages/members/members.page')).MembersPage,
  },
  {
    path: '/audit',
    label: 'Audit log',
    group: 'tenant',
    right: 'read',
    load: async () => (await import('./pages/audit/audit.page')).AuditPage,
  },
  {
    path: '/operator-logs',
    label: 'Requests',
    group: 'operator',
    right: 'operator:read',
    load: async () => (await import('./pages/operator-logs/operator-logs.page')).OperatorLogsPage,
  },
  {
    path: '/fleet',
    label: 'Fleet',
    group: 'operator',
    right: 'operator:read',
    load: async () => (await import('./pages/fleet/fleet.page')).FleetPage,
  },
  {
    path: '/routes',
    label: 'Routes',
    group: 'operator',
    right: 'operator:read',
    load: async () => (await import('./pages/routes/routes.page')).RoutesPage,
  },
  {
    path: '/tenants',
    label: 'Tenants',
    group: 'operator',
    right: 'operator:read',
    load: async () => (await import('./pages/tenants/tenants.page')).TenantsPage,
  },
  {
    path: '/tenants/$tenantId',
    group: 'operator',
    right: 'operator:read',
    load: async () => (await import('./pages/tenant/tenant.page')).TenantPage,
  },
  {
    path: '/margin',
    label: 'Margin',
    group: 'operator',
    right: 'operator:read',
    load: async () => (await import('./pages/margin/margin.page')).MarginPage,
  },
  {
    path: '/catalogue',
    label: 'Catalogue',
    group: 'operator',
    right: 'operator:read',
    load: async () => (await import('./pages/catalogue/catalogue.page')).CataloguePage,
  },
  {
    path: '/books',
    label: 'Books',
    group: 'operator',
    right: 'operator:read',
    load: async () => (await import('./pages/books/books.page')).BooksPage,
  },
  {
    path: '/operator-alerts',
    label: 'Alerts',
    group: 'operator',
    right: 'operator:read',
    load: async () =>
      (await import('./pages/operator-alerts/operator-alerts.page')).OperatorAlertsPage,
  },
  {
    path: '/operator-audit',
    label: 'Audit log',
    group: 'operator',
    right: 'operator:read',
    load: async () =>
      (await import('./pages/operator-audit/operator-audit.page')).OperatorAuditPage,
  },
  {
    path: '/people',
    label: 'People',
    group: 'operator',
    right: 'operator:read',
    load: async () => (await import('./pages/people/people.page')).PeoplePage,
  },
];
