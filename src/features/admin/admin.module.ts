import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { LedgerIdempotencyKeyEntity } from './tenants/ledger-idempotency-key.entity.js';
import { ContentModule } from '../../core/content/content.module.js';
import { CatalogueModule } from '../../core/catalogue/catalogue.module.js';
import { LedgerModule } from '../../core/ledger/ledger.module.js';
import { AdminAuditLogController } from './audit-log/admin-audit-log.controller.js';
import { AdminConfigController } from './config/config.controller.js';
import { AdminConfigService } from './config/config.service.js';
import { EffectiveConfigService } from './config/effective-config.service.js';
import { RoutingModule } from '../../core/routing/routing.module.js';
import { UpstreamModule } from '../../vendors/upstream.module.js';
import { BooksController } from './books/books.controller.js';
import { InstancesController } from './instances/instances.controller.js';
import { InstancesAdmin } from './instances/instances.service.js';
import { LimitsModule } from '../../core/limits/limits.module.js';
import { PeopleModule } from '../../core/people/people.module.js';
import { TenantsModule } from '../../core/tenants/tenants.module.js';
import { AdminContentLogController } from './content-log/admin-content-log.controller.js';
import { AdminKeysController } from './keys/admin-keys.controller.js';
import { RoutesController } from './routes/routes.controller.js';
import { RoutesAdmin } from './routes/routes.service.js';
import { RequestLogModule } from '../../core/request-log/request-log.module.js';
import { AdminLogsController } from './logs/admin-logs.controller.js';
import { TenantEntriesController } from './tenants/tenant-entries.controller.js';
import { TenantEntries } from './tenants/tenant-entries.service.js';
import { TenantEraser } from './tenants/tenant-eraser.service.js';
import { TenantKeysController } from './tenants/tenant-keys.controller.js';
import { TenantKeys } from './tenants/tenant-keys.service.js';
import { KeyLimitsController } from './limits/limits.controller.js';
import { TenantLimitsController } from './tenants/tenant-limits.controller.js';
import { TenantSettingsController } from './tenants/tenant-settings.controller.js';
import { TenantsController } from './tenants/tenants.controller.js';
import { TenantsAdmin } from './tenants/tenants.service.js';
import { PeopleController } from './people/people.controller.js';
import { TenantMembersController } from './people/tenant-members.controller.js';
import { UsageController } from './usage/usage.controller.js';
import { WhoamiController } from './whoami/whoami.controller.js';

/** Operator HTTP API. Each folder is a small feature named after its path below `/v1/admin`. */
@Module({
  imports: [
    TypeOrmModule.forFeature([LedgerIdempotencyKeyEntity]),
    CatalogueModule,
    ContentModule,
    LedgerModule,
    LimitsModule,
    PeopleModule,
    RequestLogModule,
    RoutingModule,
    TenantsModule,
    UpstreamModule,
  ],
  controllers: [
    AdminAuditLogController,
    AdminConfigController,
    AdminKeysController,
    KeyLimitsController,
    BooksController,
    InstancesController,
    RoutesController,
    AdminLogsController,
    TenantsController,
    TenantEntriesController,
    TenantKeysController,
    UsageController,
    TenantLimitsController,
    TenantSettingsController,
    WhoamiController,
    AdminContentLogController,
    PeopleController,
    TenantMembersController,
  ],
  providers: [
    AdminConfigService,
    EffectiveConfigService,
    InstancesAdmin,
    RoutesAdmin,
    TenantsAdmin,
    TenantEntries,
    TenantKeys,
    TenantEraser,
  ],
})
export class AdminModule {}
