import { Module } from '@nestjs/common';
import { GuardrailsModule } from '../../core/guardrails/guardrails.module.js';
import { LedgerModule } from '../../core/ledger/ledger.module.js';
import { RoutingModule } from '../../core/routing/routing.module.js';
import { TracingModule } from '../../core/tracing/tracing.module.js';
import { MessagesController } from './messages.controller.js';
import { MessagesService } from './messages.service.js';

@Module({
  imports: [RoutingModule, LedgerModule, GuardrailsModule, TracingModule],
  controllers: [MessagesController],
  providers: [MessagesService],
})
export class MessagesModule {}
