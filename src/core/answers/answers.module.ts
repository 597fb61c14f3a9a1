import { Module } from '@nestjs/common';
import { GuardrailsModule } from '../guardrails/guardrails.module.js';
import { LedgerModule } from '../ledger/ledger.module.js';
import { RoutingModule } from '../routing/routing.module.js';
import { TracingModule } from '../tracing/tracing.module.js';
import { AnswersService } from './answers.service.js';

/** The pipeline, with the routing and the ledger that it joins. */
@Module({
  imports: [GuardrailsModule, LedgerModule, RoutingModule, TracingModule],
  providers: [AnswersService],
  exports: [AnswersService, GuardrailsModule, LedgerModule, RoutingModule, TracingModule],
})
export class AnswersModule {}
