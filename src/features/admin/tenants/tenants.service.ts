import { Injectable } from '@nestjs/common';
import type { PoolClient } from 'pg';
import { AuditedApiKeys } from '../../../core/tenants/audited-api-keys.js';
import { mintApiKey } from '../../../core/access/api-key.js';
import type { Author } from '../../../core/access/author.js';
import type { ApiKeyType } from '../../../core/access/caller.js';
import {
  TenantsService,
  type TenantRecord,
  type TenantStatus,
} from '../../../core/tenants/tenants.service.js';
import { AuditLog, type AuditChange } from '../../../core/audit/audit-log.js';
import { auditedEntry, GrantsService } from '../../../core/ledger/grants.service.js';
import { DEFAULT_RATE_LIMIT_PER_MINUTE } from '../../../platform/config/setting-values.js';
import { Database } from '../../../platform/database/database.js';
import { isUuid } from '../../../platform/database/stored-text.js';
import { ConflictError, NotFoundError } from '../../../platform/errors/gateway-errors.js';
import type { JsonObject } from '../../../platform/http/json-body.js';

export const NO_SUCH_TENANT = 'There is no tenant with this id.';

export interface NewTenant {
  name: string;
  /** Initial grant, 0 or more. */
  credits: number;
  memo: string | null;
  monthlySpendLimit: number | null;
  keyTypes: readonly ApiKeyType[];
}

export interface TenantChange {
  name?: string | undefined;
  status?: 'active' | 'suspended' | undefined;
  monthlySpendLimit?: number | null | undefined;
}

/** A tenant with its first keys in plaintext, which are not stored. */
export interface MadeTenant {
  tenant: TenantRecord;
  keys: { id: string; plaintext: string }[];
}

/** Manages tenants for HTTP and commands, with an audit entry for each change. */
@Injectable()
export class TenantsAdmin {
  constructor(
    private readonly database: Database,
    private readonly tenants: TenantsService,
    private readonly apiKeys: AuditedApiKeys,
    private readonly grants: GrantsService,
    private readonly audit: AuditLog,
  ) {}

  /** @throws NotFoundError (`tenant_id`) */
  async find(id: string): Promise<TenantRecord> {
    return found(isUuid(id) ? await this.tenants.find(id) : undefined);
  }

  /** @throws ConflictError (`name`) when a tenant with this name exists */
  create(author: Author, made: NewTenant): Promise<MadeTenant> {
    return this.database.transaction(async (client) => {
      const tenant = await this.tenants.create(made.name, client);
      if (!tenant) throw nameTaken(made.name);
      const { id } = tenant;
      if (made.monthlySpendLimit !== null) {
        await this.tenants.setMonthlySpendLimit(id, made.monthlySpendLimit, client);
      }
      await this.audit.record(client, author, {
        ...ofTenant(id, 'create'),
        before: null,
        after: { name: made.name, monthly_spend_limit: made.monthlySpendLimit },
      });
      if (made.credits > 0) {
        const entry = await this.grants.grantWithin(client, id, made.credits, made.memo);
        await this.audit.record(client, author, auditedEntry(id, entry));
      }
      const keys: MadeTenant['keys'] = [];
      for (const type of made.keyTypes) keys.push(await this.makeKey(client, author, id, type));
      return { tenant: found(await this.tenants.find(id, client)), keys };
    });
  }

  /**
   * Updates the given fields.
   * @throws NotFoundError (`tenant_id`), also for a deleted tenant
   * @throws ConflictError (`name`) when another tenant has this name
   */
  update(author: Author, id: string, change: TenantChange): Promise<TenantRecord> {
    return this.database.transaction(async (client) => {
      const before = await this.lock(client, id);
      const { name, status, monthlySpendLimit } = change;
      if (name !== undefined && !(await this.tenants.rename(id, name, client)))
        throw nameTaken(name);
      if (status !== undefined) {
        await this.tenants.setSuspended(id, status === 'suspended', client);
      }
      if (monthlySpendLimit !== undefined) {
        await this.tenants.setMonthlySpendLimit(id, monthlySpendLimit, client);
      }
      const after = found(await this.tenants.find(id, client));
      await this.audit.record(client, author, {
        ...ofTenant(id, 'update'),
        before: factsOf(before),
        after: factsOf(after),
      });
      return after;
    });
  }

  /**
   * Locks the tenant until the transaction ends.
   * @throws NotFoundError (`tenant_id`), also for a deleted tenant
   */
  async lock(client: PoolClient, id: string): Promise<TenantRecord> {
    const tenant = isUuid(id)
      ? await this.tenants.find(id, client, 'FOR NO KEY UPDATE')
      : undefined;
    return found(tenant?.status === 'deleted' ? undefined : tenant);
  }

  private async makeKey(
    client: PoolClient,
    author: Author,
    tenantId: string,
    type: ApiKeyType,
  ): Promise<{ id: string; plaintext: string }> {
    const plaintext = mintApiKey(type);
    const draft = {
      tenantId,
      type,
      name: `First ${type} key`,
      plaintext,
      rateLimitPerMinute: DEFAULT_RATE_LIMIT_PER_MINUTE,
      expiresAt: null,
    };
    const id = await this.apiKeys.createWithin(client, author, draft);
    if (id === undefined) throw new Error('a newly generated key already exists');
    return { id, plaintext };
  }
}

function found(tenant: TenantRecord | undefined): TenantRecord {
  if (tenant) return tenant;
  throw new NotFoundError('tenant_id', NO_SUCH_TENANT);
}

function nameTaken(name: string): ConflictError {
  return new ConflictError(
    'name',
    `A tenant named ${JSON.stringify(name)} already exists. Choose another name.`,
  );
}

interface TenantFacts extends JsonObject {
  name: string;
  status: TenantStatus;
  monthly_spend_limit: number | null;
}

function factsOf({ name, status, monthlySpendLimit }: TenantRecord): TenantFacts {
  return { name, status, monthly_spend_limit: monthlySpendLimit };
}

/** Returns the audited fields of a tenant change. */
export function ofTenant(
  id: string,
  verb: string,
): Pick<AuditChange, 'tenantId' | 'action' | 'target'> {
  return { tenantId: id, action: `tenant.${verb}`, target: { type: 'tenant', id } };
}
