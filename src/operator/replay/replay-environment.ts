import type { Client } from 'pg';
import type { Caller, CountedKey } from '../../core/access/caller.js';
import { limitedSubject, type LimitedSubject, type Limits } from '../../canonical/limits.js';
import type { CatalogueRows } from '../../core/catalogue/load-catalogue.js';
import type { ConfigDocument } from '../../core/configuration/config-document.js';
import { ByokCredential } from '../../core/credentials/credential.repository.js';
import type { Span } from '../../core/request-log/split-span.js';
import { fromStoredText } from '../../platform/database/stored-text.js';
import type { JsonObject } from '../../platform/http/json-body.js';
import { utcMonthOf } from '../../platform/time/dates.js';
import type { LearnedVendors } from './learned-vendors.js';
import type { Spent } from './archived-window.js';
import type { Window } from './log-window.js';
import type { MonthlyLimit, TenantBalances } from './simulated-ledger.js';

/** A caller and the name lists that restrict it. */
export interface ReplayedCaller {
  readonly caller: Caller;
  readonly subjects: readonly LimitedSubject[] | undefined;
}

/** A balance change that was not caused by a request. */
export interface Movement {
  readonly atMs: number;
  readonly tenantId: string;
  readonly credits: number;
}

export interface ReplayVersion {
  readonly number: number;
  readonly document: ConfigDocument;
  readonly catalogue: CatalogueRows;
}

/** Everything a replay needs besides the rows. Fits into memory. */
export interface ReplayEnvironment {
  readonly callers: ReadonlyMap<string, ReplayedCaller>;
  readonly tenantNames: ReadonlyMap<string, string>;
  readonly tenantBalances: TenantBalances;
  /** In order of time. */
  readonly movements: readonly Movement[];
  /** By tenant. */
  readonly credentials: ReadonlyMap<string, readonly ByokCredential[]>;
  /** Versions that priced the window's requests, and the latest. */
  readonly versions: ReadonlyMap<number, ReplayVersion>;
  readonly latestVersion: number | undefined;
  /** Ids of price snapshots of cached answers. */
  readonly cachedSheets: ReadonlySet<string>;
}

interface KeyRow {
  id: string;
  tenantId: string;
  rateLimit: number;
  spendLimit: number | null;
  ancestorIds: string[];
  limits: (Limits | null)[];
}

interface TenantRow {
  id: string;
  name: string;
  spendLimit: number | null;
  limits: (Limits | null)[];
}

/**
 * Reads tenants, keys, balances and configuration as of the start of the window, as far as stored.
 *
 * @param archivedSpend returns the cost of archived requests; called only when there are monthly limits
 */
export async function readEnvironment(
  client: Client,
  window: Window,
  { apiKeys, configVersions }: LearnedVendors,
  archivedSpend: (span: Span) => Promise<Spent>,
): Promise<ReplayEnvironment> {
  const { rows: tenants } = await client.query<TenantRow>(
    `SELECT id, name, monthly_spend_limit AS "spendLimit",
       jsonb_build_array(limits, operator_limits) AS limits FROM tenants`,
  );
  const keys = await readKeys(client, [...apiKeys]);
  const byTenant = new Map(tenants.map((tenant) => [tenant.id, tenant]));
  const versions = await readVersions(client, [...configVersions]);
  const { rows: sheets } = await client.query<{ id: string }>(
    `SELECT id::text AS id FROM price_sheets WHERE (sheet::jsonb) ->> 'cached_answer' = 'true'`,
  );
  return {
    callers: new Map([...keys.values()].map((key) => [key.id, callerOf(key, keys, byTenant)])),
    tenantNames: new Map(tenants.map(({ id, name }) => [id, fromStoredText(name)])),
    tenantBalances: {
      balances: await readBalances(client, window),
      tenantLimits: await limitsOf(client, window, 'tenant', tenants, archivedSpend),
      keyLimits: await limitsOf(client, window, 'key', [...keys.values()], archivedSpend),
    },
    movements: await readMovements(client, window),
    credentials: await readCredentials(client),
    versions,
    latestVersion: versions.size > 0 ? Math.max(...versions.keys()) : undefined,
    cachedSheets: new Set(sheets.map(({ id }) => id)),
  };
}

/** Reads the keys and their ancestors. */
async function readKeys(client: Client, ids: readonly string[]): Promise<Map<string, KeyRow>> {
  const { rows } = await client.query<KeyRow>(
    `SELECT id, tenant_id AS "tenantId", rate_limit_per_minute AS "rateLimit",
       monthly_spend_limit AS "spendLimit", ancestor_ids AS "ancestorIds",
       jsonb_build_array(limits, operator_limits) AS limits
     FROM api_keys WHERE id = ANY ($1::uuid[])
       OR id IN (SELECT unnest(ancestor_ids) FROM api_keys WHERE id = ANY ($1::uuid[]))`,
    [ids],
  );
  return new Map(rows.map((row) => [row.id, row]));
}

function callerOf(
  key: KeyRow,
  keys: ReadonlyMap<string, KeyRow>,
  tenants: ReadonlyMap<string, TenantRow>,
): ReplayedCaller {
  const tenant = tenants.get(key.tenantId);
  const chain = [key, ...key.ancestorIds.flatMap((id) => keys.get(id) ?? [])];
  const limits = chain.flatMap(({ spendLimit }) => spendLimit ?? []);
  const countsOn: CountedKey[] = chain.map(({ id, rateLimit }) => ({
    id,
    rateLimitPerMinute: rateLimit,
  }));
  const ofTenant = tenant?.spendLimit ?? null;
  const isLimited = limits.length > 0 || ofTenant !== null;
  const subjects = [
    ...chain.map(({ id, limits: own }) => limitedSubject('api_key', id, own)),
    limitedSubject('tenant', key.tenantId, tenant?.limits ?? []),
  ].filter((subject) => subject !== undefined);
  return {
    caller: {
      tenantId: key.tenantId,
      apiKeyId: key.id,
      keyType: 'routing',
      keyName: '',
      rateLimitPerMinute: key.rateLimit,
      ...(chain.length > 1 && { countsOn }),
      ...(isLimited && {
        spendLimits: { key: limits.length > 0 ? Math.min(...limits) : null, tenant: ofTenant },
      }),
    },
    subjects: subjects.length > 0 ? subjects : undefined,
  };
}

/** Returns balances at the start of the window: current balances less all later movements. */
async function readBalances(client: Client, { from }: Window): Promise<Map<string, number>> {
  const { rows } = await client.query<{ id: string; balance: number }>(
    `SELECT tenant_id AS id, balance - coalesce((
       SELECT sum(amount) FROM ledger_entries AS entry
       WHERE entry.tenant_id = accounts.tenant_id AND entry.created_at >= $1
     ), 0)::bigint AS balance FROM accounts`,
    [from],
  );
  return new Map(rows.map(({ id, balance }) => [id, balance]));
}

/** Returns monthly limits with the amount spent before the window. */
async function limitsOf(
  client: Client,
  { from }: Window,
  kind: 'tenant' | 'key',
  all: readonly { id: string; spendLimit: number | null }[],
  archivedSpend: (span: Span) => Promise<Spent>,
): Promise<Map<string, MonthlyLimit>> {
  const limits = new Map(
    all.flatMap(({ id, spendLimit }) => (spendLimit === null ? [] : [[id, spendLimit] as const])),
  );
  if (limits.size === 0) return new Map();
  const { start, end } = utcMonthOf(from);
  const isTenant = kind === 'tenant';
  const [table, column] = isTenant ? ['account_months', 'tenant_id'] : ['key_months', 'api_key_id'];
  // Ids whose requests count towards the limit.
  const counted = isTenant
    ? 'ARRAY[limited.id::text]'
    : `ARRAY(SELECT id::text FROM api_keys WHERE id = limited.id OR limited.id = ANY (ancestor_ids))`;
  const isCounted = isTenant
    ? 'log.tenant_id = limited.id'
    : `log.api_key_id IN (
         SELECT api_keys.id FROM api_keys
         WHERE api_keys.id = limited.id OR limited.id = ANY (api_keys.ancestor_ids)
       ) AND log.tenant_id = (SELECT tenant_id FROM api_keys WHERE api_keys.id = limited.id)`;
  const archived = await archivedSpend({ start: from, end });
  const { rows } = await client.query<{ id: string; spent: number; counted: string[] }>(
    `SELECT limited.id::text AS id, ${counted} AS counted, coalesce((
         SELECT spent FROM ${table} WHERE ${column} = limited.id AND month = $2::date
       ), 0) - coalesce((
         SELECT sum(cost) FROM request_logs AS log
         WHERE ${isCounted} AND log.created_at >= $3 AND log.created_at < $4
       ), 0)::bigint AS spent
     FROM unnest($1::uuid[]) AS limited (id)`,
    [[...limits.keys()], start.toISOString().slice(0, 10), from, end],
  );
  return new Map(
    rows.map(({ id, spent, counted: ids }) => {
      const since = ids.reduce((sum, each) => sum + (archived.get(each) ?? 0), 0);
      return [id, { limit: limits.get(id)!, spent: Math.max(0, spent - since) }];
    }),
  );
}

async function readMovements(client: Client, { from, to }: Window): Promise<Movement[]> {
  const { rows } = await client.query<{ at: Date; tenantId: string; credits: number }>(
    `SELECT entry.created_at AS at, tenants.id AS "tenantId", entry.amount AS credits
     FROM tenants CROSS JOIN LATERAL (
       SELECT created_at, amount FROM ledger_entries
       WHERE ledger_entries.tenant_id = tenants.id AND kind IN ('grant', 'correction', 'refund')
         AND created_at >= $1 AND created_at < $2
     ) AS entry ORDER BY entry.created_at`,
    [from, to],
  );
  return rows.map(({ at, ...movement }) => ({ ...movement, atMs: at.getTime() }));
}

/** Reads accounts without their keys, since no vendor is called. */
async function readCredentials(client: Client): Promise<Map<string, ByokCredential[]>> {
  const { rows } = await client.query<{
    id: string;
    tenantId: string;
    provider: string;
    allowSharedFallback: boolean;
  }>(
    `SELECT id, tenant_id AS "tenantId", provider, allow_shared_fallback AS "allowSharedFallback"
     FROM provider_credentials ORDER BY created_at, id`,
  );
  const byTenant = new Map<string, ByokCredential[]>();
  for (const { tenantId, ...fields } of rows) {
    const credential = new ByokCredential({
      ...fields,
      settings: {},
      encryptedKey: Buffer.alloc(0),
    });
    byTenant.set(tenantId, [...(byTenant.get(tenantId) ?? []), credential]);
  }
  return byTenant;
}

async function readVersions(
  client: Client,
  numbers: readonly number[],
): Promise<Map<number, ReplayVersion>> {
  const { rows } = await client.query<{
    number: number;
    document: ConfigDocument;
    catalogue: Record<string, JsonObject>;
  }>(
    `SELECT number, document, catalogue FROM config_versions
     WHERE number = ANY ($1::integer[]) OR number = (SELECT max(number) FROM config_versions)`,
    [numbers],
  );
  return new Map(
    rows.map(({ number, document, catalogue }) => [
      number,
      { number, document, catalogue: new Map(Object.entries(catalogue)) },
    ]),
  );
}
