import { Module } from '@nestjs/common';
import { GuardrailsModule } from '../guardrails/guardrails.module.js';
import { LedgerModule } from '../ledger/ledger.module.js';
import { RoutingModule } from '../routing/routing.module.js';
import { TracingModule } from '../tracing/tracing.module.js';
import { ChatController } from './chat.controller.js';
import { ChatService } from './chat.service.js';

@Module({
  imports: [RoutingModule, LedgerModule, GuardrailsModule, TracingModule],
  controllers: [ChatController],
  providers: [ChatService],
})
export class ChatModule {}
