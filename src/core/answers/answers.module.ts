import { Module } from '@nestjs/common';
import { CatalogueModule } from '../catalogue/catalogue.module.js';
import { GuardrailsModule } from '../guardrails/guardrails.module.js';
import { LedgerModule } from '../ledger/ledger.module.js';
import { RoutingModule } from '../routing/routing.module.js';
import { TracingModule } from '../tracing/tracing.module.js';
import { AnswersService } from './answers.service.js';
import { DensePrompts } from './dense-prompts.service.js';
import { QuotesService } from './quotes.service.js';

/** Provides the pipeline of every answer. */
@Module({
  imports: [CatalogueModule, GuardrailsModule, LedgerModule, RoutingModule, TracingModule],
  providers: [AnswersService, DensePrompts, QuotesService],
  exports: [
    AnswersService,
    GuardrailsModule,
    LedgerModule,
    QuotesService,
    RoutingModule,
    TracingModule,
  ],
})
export class AnswersModule {}
