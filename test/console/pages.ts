import { readFileSync } from 'node:fs';
import type { ConsoleRole } from '../support/console/console-system.js';
import type { ColumnFigures, Figure } from './figures.js';

/** A page in `console/src/pages.ts`. */
export interface ConsolePage {
  path: string;
  /** Address for paths with parameters: `$acme` is the id of that tenant, `$request` that of one of its requests. */
  at?: string;
  heading: string | RegExp;
  /** Roles that may see it; most tests use the first. */
  roles: readonly ConsoleRole[];
  figures?: readonly (Figure | ColumnFigures)[];
}

const TENANT: readonly ConsoleRole[] = ['owner', 'viewer', 'newcomer', 'operator'];
const DEVELOPING: readonly ConsoleRole[] = ['owner', 'newcomer', 'operator'];
const OPERATOR: readonly ConsoleRole[] = ['operator'];

const stat = (id: string): string => `[data-stat="${id}"] dd`;
/** The default range of the overview: the last 30 days in UTC, including today. */
const LATELY = `created_at >= (date_trunc('day', now() AT TIME ZONE 'UTC') - interval '29 days') AT TIME ZONE 'UTC'`;
const ofLog = (sum: string): string =>
  `SELECT ${sum} AS figure FROM request_logs WHERE tenant_id = $1 AND ${LATELY}`;

const BALANCE: Figure = {
  at: stat('balance'),
  sql: 'SELECT sum(amount) AS figure FROM ledger_entries WHERE tenant_id = $1',
};
const OVERVIEW: readonly (Figure | ColumnFigures)[] = [
  {
    at: stat('balance'),
    sql: `SELECT sum(amount) - coalesce((SELECT sum(amount) FROM holds WHERE tenant_id = $1), 0) AS figure
          FROM ledger_entries WHERE tenant_id = $1`,
  },
  {
    at: stat('held'),
    sql: 'SELECT coalesce(sum(amount), 0) AS figure FROM holds WHERE tenant_id = $1',
  },
  {
    at: stat('spend'),
    sql: `SELECT -sum(amount) AS figure FROM ledger_entries
          WHERE tenant_id = $1 AND kind IN ('charge', 'shortfall') AND ${LATELY}`,
  },
  { at: stat('requests'), sql: ofLog('count(*)') },
  { at: stat('errors'), sql: ofLog(`count(*) FILTER (WHERE status = 'error')`) },
  { at: stat('tokens'), sql: ofLog('sum(prompt_tokens + completion_tokens)') },
  ...[0.5, 0.95].map((share, duration) => ({
    ...{ at: stat('latency'), duration },
    sql: ofLog(`percentile_disc(${share}) WITHIN GROUP (ORDER BY latency_ms)`),
  })),
];
const REQUESTS: readonly ColumnFigures[] = [
  {
    table: 'Requests, newest first',
    column: 'Cost',
    sql: `SELECT cost AS figure FROM request_logs WHERE tenant_id = $1
          ORDER BY created_at DESC, id DESC LIMIT 50`,
  },
];
const KEYS: readonly ColumnFigures[] = [
  {
    table: 'API keys',
    column: 'Spent',
    by: 'Name',
    // Refunds, such as those of expired jobs, reduce the spend.
    sql: `SELECT name, (SELECT sum(cost) FROM request_logs WHERE tenant_id = $1 AND api_key_id = api_keys.id)
            - (SELECT coalesce(sum(amount), 0) FROM ledger_entries JOIN request_logs USING (tenant_id, request_id)
               WHERE kind = 'refund' AND tenant_id = $1 AND api_key_id = api_keys.id) AS figure
          FROM api_keys WHERE tenant_id = $1`,
  },
];
const BILLING: readonly (Figure | ColumnFigures)[] = [
  BALANCE,
  ...[
    ['Amount', 'amount'],
    ['Balance after', 'sum(amount) OVER (ORDER BY created_at, id)'],
  ].map(([column = '', figure]) => ({
    ...{ table: 'Ledger entries', column },
    sql: `SELECT figure FROM (SELECT created_at, id, ${figure} AS figure FROM ledger_entries WHERE tenant_id = $1) AS entries
          ORDER BY created_at DESC, id DESC LIMIT 50`,
  })),
];
/** The margin over all tenants. */
const MARGIN: readonly (Figure | ColumnFigures)[] = [
  {
    at: stat('charged'),
    sql: `SELECT sum(cost + shortfall) AS figure FROM request_logs WHERE ${LATELY}`,
  },
  {
    at: stat('vendor_cost'),
    sql: `SELECT sum(vendor_cost) AS figure FROM request_logs WHERE ${LATELY}`,
  },
  { at: stat('requests'), sql: `SELECT count(*) AS figure FROM request_logs WHERE ${LATELY}` },
  {
    table: 'Margin by Provider',
    column: 'Charged',
    by: 'Provider',
    sql: `SELECT coalesce(provider, '(none)') AS name, sum(cost + shortfall) AS figure FROM request_logs
          WHERE ${LATELY} GROUP BY 1`,
  },
];
const TENANTS: readonly ColumnFigures[] = [
  {
    table: 'Tenants',
    column: 'Balance',
    by: 'Name',
    sql: `SELECT name, (SELECT sum(amount) FROM ledger_entries WHERE tenant_id = tenants.id) AS figure FROM tenants`,
  },
];
const ONE_TENANT: readonly (Figure | ColumnFigures)[] = [
  BALANCE,
  {
    at: stat('spent'),
    sql: `SELECT -sum(amount) AS figure FROM ledger_entries
          WHERE tenant_id = $1 AND kind IN ('charge', 'shortfall', 'refund')`,
  },
  { at: stat('requests'), sql: 'SELECT count(*) AS figure FROM request_logs WHERE tenant_id = $1' },
];

/** Every console page. A new page needs a line here. */
export const CONSOLE_PAGES: readonly ConsolePage[] = [
  { path: '/', heading: 'Overview', roles: TENANT, figures: OVERVIEW },
  { path: '/requests', heading: 'Requests', roles: TENANT, figures: REQUESTS },
  {
    path: '/requests/$requestId',
    at: '/requests/$request',
    heading: 'Request',
    roles: ['owner', 'viewer', 'operator'],
  },
  { path: '/playground', heading: 'Playground', roles: DEVELOPING },
  { path: '/models', heading: 'Models', roles: TENANT },
  { path: '/keys', heading: 'API keys', roles: TENANT, figures: KEYS },
  { path: '/guardrails', heading: 'Guardrails', roles: TENANT },
  { path: '/jobs', heading: 'Jobs', roles: TENANT },
  { path: '/billing', heading: 'Billing', roles: TENANT, figures: BILLING },
  { path: '/integrations', heading: 'Integrations', roles: TENANT },
  { path: '/members', heading: 'Members', roles: TENANT },
  { path: '/audit', heading: 'Audit log', roles: TENANT },
  { path: '/welcome', heading: 'Getting started', roles: DEVELOPING },
  { path: '/fleet', heading: 'Fleet', roles: OPERATOR },
  { path: '/routes', heading: 'Routes', roles: OPERATOR },
  { path: '/tenants', heading: 'Tenants', roles: OPERATOR, figures: TENANTS },
  {
    path: '/tenants/$tenantId',
    at: '/tenants/$acme',
    heading: 'acme',
    roles: OPERATOR,
    figures: ONE_TENANT,
  },
  { path: '/margin', heading: 'Margin', roles: OPERATOR, figures: MARGIN },
  { path: '/catalogue', heading: 'Catalogue', roles: OPERATOR },
  { path: '/books', heading: 'Books', roles: OPERATOR },
  { path: '/operator-alerts', heading: 'Alerts', roles: OPERATOR },
  { path: '/operator-audit', heading: 'Audit log', roles: OPERATOR },
  { path: '/operator-logs', heading: 'Requests of all tenants', roles: OPERATOR },
  { path: '/people', heading: 'People', roles: OPERATOR },
];

const SOURCE = readFileSync('console/src/pages.ts', 'utf8');
/** The paths of the console's pages. */
export const PATHS = [...SOURCE.matchAll(/^\s+path: '([^']+)'/gm)].map(([, path]) => path!);
/** Lines of the table whose page exists. */
export const PAGES_THERE = CONSOLE_PAGES.filter(({ path }) => PATHS.includes(path));
