import { DataSource } from 'typeorm';
import { AdminKeyEntity } from '../../src/core/access/admin-key.entity.js';
import { AdminKeyRepository } from '../../src/core/access/admin-keys.repository.js';
import { ApiKeyEntity } from '../../src/core/access/api-key.entity.js';
import { ApiKeyRepository, type ApiKeyDraft } from '../../src/core/access/api-key.repository.js';
import { mintApiKey } from '../../src/core/access/api-key.js';
import { LoginLinkEntity } from '../../src/core/people/login-link.entity.js';
import { TenantEntity } from '../../src/core/tenants/tenant.entity.js';
import { TenantsService } from '../../src/core/tenants/tenants.service.js';
import { databaseOptions } from '../../src/platform/database/database-options.js';
import { Database } from '../../src/platform/database/database.js';
import { GrantsService } from '../../src/core/ledger/grants.service.js';

/** The services of `access/` on their own connection pool, like those of an instance. */
export interface AccessServices {
  dataSource: DataSource;
  database: Database;
  tenants: TenantsService;
  apiKeys: ApiKeyRepository;
  adminKeys: AdminKeyRepository;
  grants: GrantsService;
  /** Creates a tenant and returns its id. */
  makeTenant(name: string): Promise<string>;
  /** Creates a key; omitted fields do not matter to the test. */
  makeKey(overrides: Partial<ApiKeyDraft> & { tenantId: string }): Promise<MadeKey>;
  close(): Promise<void>;
}

export interface MadeKey {
  id: string;
  plaintext: string;
}

export async function openAccessServices(url: string): Promise<AccessServices> {
  const dataSource = await new DataSource({
    ...databaseOptions(url),
    entities: [TenantEntity, ApiKeyEntity, AdminKeyEntity, LoginLinkEntity],
  }).initialize();
  const database = new Database(dataSource);
  const tenants = new TenantsService(dataSource.getRepository(TenantEntity), database);
  const apiKeys = new ApiKeyRepository(dataSource.getRepository(ApiKeyEntity), database);
  return {
    dataSource,
    database,
    tenants,
    apiKeys,
    adminKeys: new AdminKeyRepository(dataSource.getRepository(AdminKeyEntity), database),
    grants: new GrantsService(database),
    async makeTenant(name) {
      const tenant = await database.transaction((client) => tenants.create(name, client));
      if (!tenant) throw new Error(`tenant ${name} exists`);
      return tenant.id;
    },
    async makeKey(overrides) {
      const plaintext = mintApiKey(overrides.type ?? 'routing');
      const id = await apiKeys.insert({
        type: 'routing',
        name: 'a key',
        plaintext,
        rateLimitPerMinute: 600,
        expiresAt: null,
        ...overrides,
      });
      if (id === undefined) throw new Error('key exists');
      return { id, plaintext: overrides.plaintext ?? plaintext };
    },
    close: () => dataSource.destroy(),
  };
}
