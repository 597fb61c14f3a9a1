import { Module } from '@nestjs/common';
import { CatalogueModule } from '../../core/catalogue/catalogue.module.js';
import { GuardrailsModule } from '../../core/guardrails/guardrails.module.js';
import { LedgerModule } from '../../core/ledger/ledger.module.js';
import { RoutingModule } from '../../core/routing/routing.module.js';
import { TracingModule } from '../../core/tracing/tracing.module.js';
import { EmbeddingsController } from './embeddings.controller.js';
import { EmbeddingsService } from './embeddings.service.js';

@Module({
  imports: [CatalogueModule, RoutingModule, LedgerModule, GuardrailsModule, TracingModule],
  controllers: [EmbeddingsController],
  providers: [EmbeddingsService],
})
export class EmbeddingsModule {}
