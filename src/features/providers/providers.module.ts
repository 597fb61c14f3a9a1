import { Module } from '@nestjs/common';
import { CatalogueModule } from '../../core/catalogue/catalogue.module.js';
import { CredentialsModule } from '../../core/credentials/credentials.module.js';
import { LedgerModule } from '../../core/ledger/ledger.module.js';
import { UpstreamModule } from '../../vendors/upstream.module.js';
import {
  ModelsController,
  CompatibleModelsController,
  MessagesModelsController,
} from './models.controller.js';
import { ModelsService } from './models.service.js';
import { RoutingModule } from '../../core/routing/routing.module.js';
import { EndpointsController } from './endpoints.controller.js';
import { EndpointsService } from './endpoints.service.js';
import { ProvidersController } from './providers.controller.js';
import { ProvidersService } from './providers.service.js';

@Module({
  imports: [CatalogueModule, CredentialsModule, LedgerModule, RoutingModule, UpstreamModule],
  controllers: [
    // First, since `models/*id` would match its path.
    EndpointsController,
    ModelsController,
    CompatibleModelsController,
    MessagesModelsController,
    ProvidersController,
  ],
  providers: [EndpointsService, ModelsService, ProvidersService],
})
export class ProvidersModule {}
