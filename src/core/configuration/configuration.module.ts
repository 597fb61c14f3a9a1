import { Global, Module } from '@nestjs/common';
import { CatalogueModule } from '../catalogue/catalogue.module.js';
import { UpstreamModule } from '../../vendors/upstream.module.js';
import { ConfigVersions } from './config-versions.js';
import { ConfigurationService } from './configuration.service.js';
import { ServedModelsService } from './served-models.service.js';

/** Global, because operations show the version and operators change it. */
@Global()
@Module({
  imports: [CatalogueModule, UpstreamModule],
  providers: [ConfigVersions, ConfigurationService, ServedModelsService],
  exports: [ConfigVersions, ConfigurationService],
})
export class ConfigurationModule {}
