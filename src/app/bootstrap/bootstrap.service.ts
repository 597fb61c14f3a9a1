import { Inject, Injectable, Logger } from '@nestjs/common';
import type { PoolClient } from 'pg';
import { AdminKeyRepository } from '../../core/access/admin-keys.repository.js';
import { AdminKeysService } from '../../core/tenants/admin-keys.service.js';
import { BOOTSTRAP_AUTHOR } from '../../core/access/author.js';
import { AuditLog } from '../../core/audit/audit-log.js';
import { AuditedApiKeys } from '../../core/tenants/audited-api-keys.js';
import { ApiKeyRepository } from '../../core/access/api-key.repository.js';
import { apiKeyStatus } from '../../core/access/api-key.entity.js';
import { hashApiKey, mintApiKey } from '../../core/access/api-key.js';
import { TenantsService, type Tenant } from '../../core/tenants/tenants.service.js';
import { LoginLinks } from '../../core/people/login-links.service.js';
import { APP_CONFIG, type AppConfig } from '../../platform/config/app-config.js';
import { ConfigError } from '../../platform/config/config-error.js';
import { Database } from '../../platform/database/database.js';
import { auditedEntry, GrantsService } from '../../core/ledger/grants.service.js';
import { readBootstrapFile, type DeclaredKey, type DeclaredTenant } from './read-bootstrap-file.js';

const FIRST_TENANT = 'default';
const LOCK_NAME = 'model-gateway bootstrap';

/** Creates the tenants and keys that the operator declared, or a first tenant. */
@Injectable()
export class BootstrapService {
  private readonly logger = new Logger(BootstrapService.name);

  constructor(
    @Inject(APP_CONFIG)
    private readonly config: Pick<AppConfig, 'bootstrap'> & {
      http: Pick<AppConfig['http'], 'hasConsole'>;
    },
    private readonly database: Database,
    private readonly tenants: TenantsService,
    private readonly apiKeys: ApiKeyRepository,
    private readonly keys: AuditedApiKeys,
    private readonly grants: GrantsService,
    private readonly adminKeys: AdminKeysService,
    private readonly adminKeyRows: AdminKeyRepository,
    private readonly links: LoginLinks,
    private readonly audit: AuditLog,
  ) {}

  /**
   * Call at each start; several instances may do so at once. Leaves existing tenants and keys
   * unchanged, and creates all of the missing ones or none.
   *
   * @throws ConfigError when a declared key cannot be used
   */
  async ensureFirstTenant(): Promise<BootstrapOutcome> {
    const { bootstrap } = this.config;
    const fromFile = bootstrap.file ? readBootstrapFile(bootstrap.file, bootstrap) : [];
    const fromEnvironment = this.keysFromEnvironment();
    return this.database.transaction(async (client) => {
      await client.query(`SELECT pg_advisory_xact_lock(hashtext($1))`, [LOCK_NAME]);
      for (const tenant of fromFile) await this.ensureTenant(client, tenant);
      const operator = await this.ensureOperator(client);
      if (fromEnvironment.length > 0) {
        await this.ensureTenant(client, this.firstTenant(fromEnvironment));
        return { kind: 'environment', created: undefined, ...operator };
      }
      if (bootstrap.file) return { kind: 'file', created: undefined, ...operator };
      if (await this.tenants.findDeclared(FIRST_TENANT, client)) {
        return { kind: 'earlier', created: undefined, ...operator };
      }
      return { kind: 'created', created: await this.makeFirstTenant(client), ...operator };
    });
  }

  /**
   * Creates the operator's declared key, or a random one if there has never been any. Operators who
   * revoke all keys get no new one.
   *
   * @returns the plaintext of a random key, and a one-time login token for the console
   */
  private async ensureOperator(client: PoolClient): Promise<FirstOperator> {
    const { bootstrap, http } = this.config;
    const { adminKey } = bootstrap;
    if (adminKey === undefined && (await this.adminKeyRows.areThereAny(client))) return {};
    const plaintext = adminKey ?? mintApiKey('admin');
    const draft = { name: 'First admin key', plaintext, role: 'admin', expiresAt: null } as const;
    const made = await this.adminKeys.insertWithin(client, BOOTSTRAP_AUTHOR, draft);
    if (!made) await this.warnIfInactive(client, plaintext);
    if (adminKey !== undefined) return {};
    if (!http.hasConsole) return { adminKey: plaintext };
    return {
      adminKey: plaintext,
      loginToken: await this.links.createWithin(client, BOOTSTRAP_AUTHOR),
    };
  }

  private async warnIfInactive(client: PoolClient, plaintext: string): Promise<void> {
    const hash = hashApiKey(plaintext);
    const known = (await this.adminKeyRows.findByHashes([hash], client)).get(hash);
    const status = known && apiKeyStatus(known, Date.now());
    if (status !== 'active') {
      this.logger.warn(`GATEWAY_ADMIN_KEY is ${status} and cannot be used; set another key`);
    }
  }

  private keysFromEnvironment(): DeclaredKey[] {
    const { apiKey, managementKey } = this.config.bootstrap;
    return [
      ...(apiKey ? [this.routingKey(apiKey, 'GATEWAY_BOOTSTRAP_API_KEY')] : []),
      ...(managementKey
        ? [this.managementKey(managementKey, 'GATEWAY_BOOTSTRAP_MANAGEMENT_KEY')]
        : []),
    ];
  }

  /** Returns the keys in plaintext, which is stored nowhere. */
  private async makeFirstTenant(client: PoolClient): Promise<FirstKeys> {
    const created = { apiKey: mintApiKey('routing'), managementKey: mintApiKey('management') };
    await this.ensureTenant(
      client,
      this.firstTenant([
        this.routingKey(created.apiKey, 'The first API key'),
        this.managementKey(created.managementKey, 'The first management key'),
      ]),
    );
    return created;
  }

  private firstTenant(keys: DeclaredKey[]): DeclaredTenant {
    return { name: FIRST_TENANT, credits: this.config.bootstrap.credits, keys };
  }

  private routingKey(plaintext: string, source: string): DeclaredKey {
    const { rateLimitPerMinute } = this.config.bootstrap;
    return { type: 'routing', plaintext, name: 'First API key', rateLimitPerMinute, source };
  }

  private managementKey(plaintext: string, source: string): DeclaredKey {
    const { rateLimitPerMinute } = this.config.bootstrap;
    return {
      type: 'management',
      plaintext,
      name: 'First management key',
      rateLimitPerMinute,
      source,
    };
  }

  private async ensureTenant(client: PoolClient, declared: DeclaredTenant): Promise<void> {
    const known = await this.tenants.findDeclared(declared.name, client);
    if (known?.isDeleted) {
      const name = JSON.stringify(declared.name);
      this.logger.warn(`Tenant ${name} was deleted; remove it from the bootstrap settings`);
      return;
    }
    const tenant = known ?? (await this.makeTenant(client, declared));
    for (const key of declared.keys) await this.ensureKey(client, tenant, key);
  }

  private async makeTenant(client: PoolClient, declared: DeclaredTenant): Promise<Tenant> {
    const tenant = await this.tenants.create(declared.name, client);
    if (!tenant) throw new Error('A tenant was created despite the bootstrap lock');
    const { id, name } = tenant;
    await this.audit.record(client, BOOTSTRAP_AUTHOR, {
      tenantId: id,
      action: 'tenant.create',
      target: { type: 'tenant', id },
      before: null,
      after: { name },
    });
    if (declared.credits > 0) {
      const entry = await this.grants.grantWithin(client, id, declared.credits);
      await this.audit.record(client, BOOTSTRAP_AUTHOR, auditedEntry(id, entry));
    }
    return tenant;
  }

  private async ensureKey(client: PoolClient, tenant: Tenant, key: DeclaredKey): Promise<void> {
    const draft = { ...key, tenantId: tenant.id, expiresAt: null };
    if (await this.keys.createWithin(client, BOOTSTRAP_AUTHOR, draft)) return;

    const [known] = await this.apiKeys.findByHashes([hashApiKey(key.plaintext)], client);
    if (!known) throw new Error('A key was removed despite the bootstrap lock');
    if (known.tenantId !== tenant.id) {
      const owner = (await this.tenants.nameOf(known.tenantId, client)) ?? 'unknown';
      throw new ConfigError([
        `${key.source} is already a key of the tenant ${JSON.stringify(owner)}; choose another key for ${JSON.stringify(tenant.name)}`,
      ]);
    }
    const status = apiKeyStatus(known, Date.now());
    if (status !== 'active') {
      this.logger.warn(`${key.source} is ${status} and cannot be used; declare another key`);
    }
    if (known.rateLimitPerMinute !== key.rateLimitPerMinute) {
      const change = { id: known.id, action: 'api_key.update' };
      await this.keys.changeWithin(client, BOOTSTRAP_AUTHOR, change, () =>
        this.apiKeys.updateRateLimit(known.id, key.rateLimitPerMinute, client),
      );
    }
  }
}

/** Keys created at this start. Shown once; only their hashes are stored. */
interface FirstKeys {
  apiKey: string;
  managementKey: string;
}

interface FirstOperator {
  /** The first operator key, if created at this start. */
  adminKey?: string;
  /** Opens one admin session in the console; created with the key. */
  loginToken?: string;
}

/** Origin of this start's keys, for `describeFirstKeys`. */
export type BootstrapOutcome = (
  | { kind: 'created'; created: FirstKeys }
  | { kind: 'earlier' | 'environment' | 'file'; created: undefined }
) &
  FirstOperator;
