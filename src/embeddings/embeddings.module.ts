import { Module } from '@nestjs/common';
import { CatalogueModule } from '../catalogue/catalogue.module.js';
import { GuardrailsModule } from '../guardrails/guardrails.module.js';
import { LedgerModule } from '../ledger/ledger.module.js';
import { RoutingModule } from '../routing/routing.module.js';
import { TracingModule } from '../tracing/tracing.module.js';
import { EmbeddingsController } from './embeddings.controller.js';
import { EmbeddingsService } from './embeddings.service.js';

@Module({
  imports: [CatalogueModule, RoutingModule, LedgerModule, GuardrailsModule, TracingModule],
  controllers: [EmbeddingsController],
  providers: [EmbeddingsService],
})
export class EmbeddingsModule {}
