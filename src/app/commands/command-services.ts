import { DataSource } from 'typeorm';
import { AdminKeyEntity } from '../../core/access/admin-key.entity.js';
import { AdminKeyRepository } from '../../core/access/admin-keys.repository.js';
import { AdminKeysService } from '../../core/tenants/admin-keys.service.js';
import { AuditLog } from '../../core/audit/audit-log.js';
import { ApiKeyEntity } from '../../core/access/api-key.entity.js';
import { ApiKeyRepository } from '../../core/access/api-key.repository.js';
import { AuditedApiKeys } from '../../core/tenants/audited-api-keys.js';
import { TenantEntity } from '../../core/tenants/tenant.entity.js';
import { KeyDirectory } from '../../core/access/key-directory.service.js';
import { TenantsService } from '../../core/tenants/tenants.service.js';
import { ConfigVersions } from '../../core/configuration/config-versions.js';
import type { AppConfig } from '../../platform/config/app-config.js';
import { databaseOptions } from '../../platform/database/database-options.js';
import { Database } from '../../platform/database/database.js';
import { migrateDatabase } from '../../platform/database/migrate-database.js';
import { MIGRATIONS } from '../../platform/database/migrations.js';
import { attachEmbeddedPostgres } from '../../platform/database/embedded-postgres.js';
import { TenantEntries } from '../../features/admin/tenants/tenant-entries.service.js';
import { TenantEraser } from '../../features/admin/tenants/tenant-eraser.service.js';
import { TenantsAdmin } from '../../features/admin/tenants/tenants.service.js';
import { GrantsService } from '../../core/ledger/grants.service.js';
import { StatementReader } from '../../core/ledger/statement.reader.js';
import { InstanceService } from '../../core/ledger/instance.service.js';
import { LedgerStore } from '../../core/ledger/ledger-store.js';
import { SettlementJournal } from '../../core/ledger/settlement-journal.js';
import { InvitationEntity } from '../../core/people/invitation.entity.js';
import { InvitationsService } from '../../core/people/invitations.service.js';
import { LoginLinkEntity } from '../../core/people/login-link.entity.js';
import { LoginLinks } from '../../core/people/login-links.service.js';
import { SettlementRecovery } from '../../core/ledger/settlement-recovery.service.js';

/** Services for commands. */
export interface CommandServices {
  database: Database;
  tenants: TenantsService;
  apiKeys: AuditedApiKeys;
  admin: TenantsAdmin;
  entries: TenantEntries;
  eraser: TenantEraser;
  adminKeys: AdminKeysService;
  adminKeyRows: AdminKeyRepository;
  audit: AuditLog;
  invitations: InvitationsService;
  loginLinks: LoginLinks;
  recovery: SettlementRecovery;
  configVersions: ConfigVersions;
  close(): Promise<void>;
}

/**
 * Connects to the service's database: `DATABASE_URL`, or the embedded database, which is started for
 * the command if the service is not running. Wired by hand, because a Nest application takes a
 * second to start.
 */
export async function openCommandServices(
  config: AppConfig,
  log: (line: string) => void,
): Promise<CommandServices> {
  if (config.databaseUrl) return connect(config.databaseUrl, config);
  const embedded = await attachEmbeddedPostgres({ dataDirectory: config.dataDirectory, log });
  try {
    const services = await connect(embedded.url, config);
    return {
      ...services,
      async close() {
        await services.close();
        await embedded.stop();
      },
    };
  } catch (error) {
    await embedded.stop();
    throw error;
  }
}

async function connect(url: string, config: AppConfig): Promise<CommandServices> {
  // The command may run before the service's first start.
  await migrateDatabase(url, MIGRATIONS);
  const dataSource = new DataSource({
    ...databaseOptions(url),
    poolSize: 2,
    entities: [TenantEntity, ApiKeyEntity, AdminKeyEntity, InvitationEntity, LoginLinkEntity],
  });
  await dataSource.initialize();
  const database = new Database(dataSource);
  // A command exports no metrics.
  const journal = new SettlementJournal(config, { observeSettlements: () => undefined });
  const store = new LedgerStore(database, new InstanceService(database), journal);
  const audit = new AuditLog();
  const keyRows = new ApiKeyRepository(dataSource.getRepository(ApiKeyEntity), database);
  const adminKeyRows = new AdminKeyRepository(dataSource.getRepository(AdminKeyEntity), database);
  const tenants = new TenantsService(dataSource.getRepository(TenantEntity), database);
  const apiKeys = new AuditedApiKeys(database, keyRows, audit);
  const grants = new GrantsService(database);
  const admin = new TenantsAdmin(database, tenants, apiKeys, grants, audit);
  const statements = new StatementReader(database);
  const directory = new KeyDirectory(keyRows);
  return {
    database,
    tenants,
    apiKeys,
    admin,
    entries: new TenantEntries(database, admin, grants, statements, audit),
    eraser: new TenantEraser(database, admin, tenants, keyRows, directory, grants, audit),
    adminKeys: new AdminKeysService(database, adminKeyRows, audit),
    adminKeyRows,
    audit,
    invitations: new InvitationsService(
      dataSource.getRepository(InvitationEntity),
      database,
      audit,
    ),
    loginLinks: new LoginLinks(dataSource.getRepository(LoginLinkEntity), database, audit),
    recovery: new SettlementRecovery(database, store, journal, audit),
    configVersions: new ConfigVersions(database, audit, config),
    async close() {
      await database.onApplicationShutdown();
      await dataSource.destroy();
    },
  };
}
