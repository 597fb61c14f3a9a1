import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { AdminKeysService } from './admin-keys.service.js';
import { AuditedApiKeys } from './audited-api-keys.js';
import { TenantEntity } from './tenant.entity.js';
import { TenantSettings } from './tenant-settings.service.js';
import { TenantsService } from './tenants.service.js';

const SERVICES = [AdminKeysService, AuditedApiKeys, TenantSettings, TenantsService];

/** Administers tenants, their API keys and the operators' keys. `core/access` reads them for requests. */
@Module({
  imports: [TypeOrmModule.forFeature([TenantEntity])],
  providers: SERVICES,
  exports: [TypeOrmModule, ...SERVICES],
})
export class TenantsModule {}
