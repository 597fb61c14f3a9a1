import { randomUUID } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DataSource } from 'typeorm';
import { NO_USAGE } from '../../src/canonical/usage.js';
import { databaseOptions } from '../../src/platform/database/database-options.js';
import { Database } from '../../src/platform/database/database.js';
import { AuditLog } from '../../src/core/audit/audit-log.js';
import { GrantsService } from '../../src/core/ledger/grants.service.js';
import { InstanceService } from '../../src/core/ledger/instance.service.js';
import type {
  Charge,
  CoverOperation,
  HoldOperation,
  SettleOperation,
} from '../../src/core/ledger/ledger-operations.js';
import { LedgerStore } from '../../src/core/ledger/ledger-store.js';
import { SettlementJournal } from '../../src/core/ledger/settlement-journal.js';
import { SettlementRecovery } from '../../src/core/ledger/settlement-recovery.service.js';
import type { RequestLogDraft } from '../../src/core/request-log/request-log-row.js';

export interface TestTenant {
  tenantId: string;
  apiKeyId: string;
}

/** Creates a tenant with one key and, unless it has no account, this many credits. */
export async function createTenant(
  database: Database,
  credits: number | 'no account',
): Promise<TestTenant> {
  const { rows } = await database.query<{ tenantId: string; apiKeyId: string }>(
    `WITH tenant AS (INSERT INTO tenants (name) VALUES (gen_random_uuid()::text) RETURNING id)
     INSERT INTO api_keys (tenant_id, type, name, key_hash, key_preview, rate_limit_per_minute)
     SELECT id, 'routing', 'test', decode(md5(id::text), 'hex'), 'sk-test', 600 FROM tenant
     RETURNING tenant_id AS "tenantId", id AS "apiKeyId"`,
  );
  const tenant = rows[0]!;
  if (credits === 'no account') return tenant;
  await database.query('INSERT INTO accounts (tenant_id) VALUES ($1)', [tenant.tenantId]);
  if (credits > 0) await new GrantsService(database).grant(tenant.tenantId, credits);
  return tenant;
}

export function holdOperation(
  tenant: TestTenant,
  amount: number,
  overrides?: Partial<HoldOperation>,
): HoldOperation {
  return {
    requestId: randomUUID(),
    ...tenant,
    amount,
    endpoint: 'chat',
    model: 'openai/gpt-4o-mini',
    provider: 'openai',
    streamed: false,
    createdAt: new Date(),
    ...overrides,
  };
}

export function coverOperation(
  { requestId, tenantId }: HoldOperation,
  additional: number,
  overrides?: Partial<CoverOperation>,
): CoverOperation {
  return { requestId, tenantId, additional, ...overrides };
}

export function logDraft(
  tenant: TestTenant,
  requestId: string,
  overrides?: Partial<RequestLogDraft>,
): RequestLogDraft {
  return {
    requestId,
    ...tenant,
    endpoint: 'chat',
    model: 'openai/gpt-4o-mini',
    provider: 'openai',
    outcome: 'completed',
    errorType: null,
    finishReason: 'stop',
    trafficMode: 'shared',
    usage: { ...NO_USAGE, inputTokens: 7, outputTokens: 3 },
    usageSource: 'upstream',
    billingNote: null,
    streamed: false,
    latencyMs: 120,
    generationTimeMs: 80,
    createdAt: new Date(),
    ...overrides,
  };
}

export function settleOperation(
  tenant: TestTenant,
  requestId: string,
  charge: number | Charge,
  overrides?: Partial<RequestLogDraft>,
): SettleOperation {
  return {
    charge:
      typeof charge === 'number'
        ? { modelCharge: charge, byokPlatformFee: 0, managedToolFee: 0 }
        : charge,
    log: logDraft(tenant, requestId, overrides),
  };
}

export interface TestLedger {
  store: LedgerStore;
  /** In a separate data folder. */
  journal: SettlementJournal;
  /** Settlements counted by its metric, by outcome. */
  outcomes: Readonly<Record<string, number>>;
  recovery: SettlementRecovery;
  instance: InstanceService;
  database: Database;
  close(): Promise<void>;
}

/** A ledger with its own connection pool and instance id, like another process. */
export async function connectLedger(url: string): Promise<TestLedger> {
  const dataSource = await new DataSource(databaseOptions(url)).initialize();
  const database = new Database(dataSource);
  const instance = new InstanceService(database);
  const dataDirectory = join(tmpdir(), `gateway-ledger-${randomUUID()}`);
  const outcomes: Record<string, number> = {};
  const journal = new SettlementJournal(
    { dataDirectory },
    {
      observeSettlements: (outcome, count) =>
        (outcomes[outcome] = (outcomes[outcome] ?? 0) + count),
    },
  );
  const store = new LedgerStore(database, instance, journal);
  return {
    store,
    journal,
    outcomes: outcomes,
    recovery: new SettlementRecovery(database, store, journal, new AuditLog()),
    instance,
    database,
    async close() {
      await store.drain();
      await database.onApplicationShutdown();
      await dataSource.destroy();
      await rm(dataDirectory, { recursive: true, force: true });
    },
  };
}

export interface AccountSnapshot {
  balance: number;
  held: number;
  spent: number;
  requests: number;
  /** Sum of the tenant's ledger entries. */
  entries: number;
  /** Sum of the tenant's open holds. */
  holds: number;
  /** Sums over the tenant's log rows. */
  logged: { rows: number; cost: number };
}

/** Reads a tenant's complete state in one statement. */
export async function snapshot(database: Database, tenantId: string): Promise<AccountSnapshot> {
  const { rows } = await database.query<Omit<AccountSnapshot, 'logged'> & Record<string, number>>(
    `SELECT balance, held, spent, request_count AS requests,
       (SELECT coalesce(sum(amount), 0)::bigint FROM ledger_entries WHERE tenant_id = $1) AS entries,
       (SELECT coalesce(sum(amount), 0)::bigint FROM holds WHERE tenant_id = $1) AS holds,
       (SELECT count(*) FROM request_logs WHERE tenant_id = $1) AS logged_rows,
       (SELECT coalesce(sum(cost), 0)::bigint FROM request_logs WHERE tenant_id = $1) AS logged_cost
     FROM accounts WHERE tenant_id = $1`,
    [tenantId],
  );
  const { logged_rows, logged_cost, ...account } = rows[0]!;
  return { ...account, logged: { rows: logged_rows!, cost: logged_cost! } };
}

/** Returns the tenants whose account contradicts their entries, holds, rows or counters. */
export async function brokenAccounts(
  database: Database,
  tenants: readonly TestTenant[],
): Promise<unknown[]> {
  const { rows } = await database.query(
    `SELECT * FROM (
       SELECT tenant_id, balance, held, spent, request_count,
         (SELECT coalesce(sum(amount), 0)::bigint FROM ledger_entries e
          WHERE e.tenant_id = a.tenant_id) AS entries,
         (SELECT coalesce(sum(amount), 0)::bigint FROM holds h
          WHERE h.tenant_id = a.tenant_id) AS holds,
         (SELECT coalesce(sum(cost), 0)::bigint FROM request_logs l
          WHERE l.tenant_id = a.tenant_id)
           - (SELECT coalesce(sum(amount), 0)::bigint FROM ledger_entries e
              WHERE e.tenant_id = a.tenant_id AND e.kind = 'refund') AS cost,
         (SELECT count(*) FROM request_logs l WHERE l.tenant_id = a.tenant_id) AS logs,
         (SELECT coalesce(sum(m.spent), 0)::bigint FROM account_months m
          WHERE m.tenant_id = a.tenant_id) AS month_spent,
         (SELECT coalesce(sum(m.request_count), 0)::bigint FROM account_months m
          WHERE m.tenant_id = a.tenant_id) AS month_requests,
         (SELECT coalesce(sum(k.total_spend), 0)::bigint FROM api_keys k
          WHERE k.tenant_id = a.tenant_id) AS key_spend,
         (SELECT coalesce(sum(k.request_count), 0)::bigint FROM api_keys k
          WHERE k.tenant_id = a.tenant_id) AS key_requests
       FROM accounts a WHERE tenant_id = ANY ($1)
     ) AS account
     WHERE balance < 0 OR held < 0 OR held > balance OR balance <> entries OR held <> holds
       OR spent <> cost OR spent <> month_spent OR spent <> key_spend
       OR request_count <> logs OR request_count <> month_requests OR request_count <> key_requests`,
    [tenants.map(({ tenantId }) => tenantId)],
  );
  return rows;
}

/** Holds credits. @returns the request's id */
export async function openHold(
  { store }: Pick<TestLedger, 'store'>,
  tenant: TestTenant,
  amount: number,
): Promise<string> {
  const operation = holdOperation(tenant, amount);
  const outcome = await store.hold(operation);
  if (!outcome.admitted) throw new Error(`${amount} credits were not held`);
  return operation.requestId;
}

/** Returns a request's log row, if any. */
export async function logRowOf(
  database: Database,
  requestId: string,
): Promise<Record<string, unknown> | undefined> {
  const { rows } = await database.query('SELECT * FROM request_logs WHERE request_id = $1', [
    requestId,
  ]);
  return rows[0];
}
