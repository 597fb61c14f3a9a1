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
import { ProvidersController } from './providers.controller.js';
import { ProvidersService } from './providers.service.js';

@Module({
  imports: [CatalogueModule, CredentialsModule, LedgerModule, RoutingModule, UpstreamModule],
  controllers: [
    ModelsController,
    CompatibleModelsController,
    MessagesModelsController,
    ProvidersController,
  ],
  providers: [ModelsService, ProvidersService],
})
export class ProvidersModule {}
