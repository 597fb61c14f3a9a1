import { Module } from '@nestjs/common';
import { CatalogueModule } from '../catalogue/catalogue.module.js';
import { CredentialsModule } from '../credentials/credentials.module.js';
import { UpstreamModule } from '../upstream/upstream.module.js';
import { RoutingService } from './routing.service.js';

@Module({
  imports: [CatalogueModule, CredentialsModule, UpstreamModule],
  providers: [RoutingService],
  exports: [RoutingService],
})
export class RoutingModule {}
