import { Global, Module } from '@nestjs/common';
import { CatalogueModule } from '../catalogue/catalogue.module.js';
import { UpstreamModule } from '../../vendors/upstream.module.js';
import { ConfigVersions } from './config-versions.js';
import { ConfigurationService } from './configuration.service.js';
import { ProviderChecks } from './provider-checks.service.js';
import { ServedModelsService } from './served-models.service.js';

/** Global, because operations show the version and operators change it. */
@Global()
@Module({
  imports: [CatalogueModule, UpstreamModule],
  providers: [ConfigVersions, ConfigurationService, ServedModelsService, ProviderChecks],
  exports: [ConfigVersions, ConfigurationService, ProviderChecks],
})
export class ConfigurationModule {}
