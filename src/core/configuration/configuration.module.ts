import { Global, Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { ConfigVersionEntity } from './config-version.entity.js';
import { ProviderKeyEntity } from './provider-key.entity.js';
import { CatalogueModule } from '../catalogue/catalogue.module.js';
import { UpstreamModule } from '../../vendors/upstream.module.js';
import { ConfigVersions } from './config-versions.js';
import { ConfigurationService } from './configuration.service.js';
import { ProviderChecks } from './provider-checks.service.js';
import { ServedModelsService } from './served-models.service.js';

/** Global, because operations report the version and operators change it. */
@Global()
@Module({
  imports: [
    TypeOrmModule.forFeature([ConfigVersionEntity, ProviderKeyEntity]),
    CatalogueModule,
    UpstreamModule,
  ],
  providers: [ConfigVersions, ConfigurationService, ServedModelsService, ProviderChecks],
  exports: [ConfigVersions, ConfigurationService, ProviderChecks],
})
export class ConfigurationModule {}
