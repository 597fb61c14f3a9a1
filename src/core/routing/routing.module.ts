import { Module } from '@nestjs/common';
import { CacheModule } from './cache/cache.module.js';
import { CatalogueModule } from '../catalogue/catalogue.module.js';
import { CredentialsModule } from '../credentials/credentials.module.js';
import { UpstreamModule } from '../../vendors/upstream.module.js';
import { RoutingService } from './routing.service.js';

@Module({
  imports: [CacheModule, CatalogueModule, CredentialsModule, UpstreamModule],
  providers: [RoutingService],
  exports: [RoutingService],
})
export class RoutingModule {}
