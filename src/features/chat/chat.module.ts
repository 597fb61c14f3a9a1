import { Module } from '@nestjs/common';
import { GuardrailsModule } from '../../core/guardrails/guardrails.module.js';
import { LedgerModule } from '../../core/ledger/ledger.module.js';
import { RoutingModule } from '../../core/routing/routing.module.js';
import { TracingModule } from '../../core/tracing/tracing.module.js';
import { ChatController } from './chat.controller.js';
import { ChatService } from './chat.service.js';

@Module({
  imports: [RoutingModule, LedgerModule, GuardrailsModule, TracingModule],
  controllers: [ChatController],
  providers: [ChatService],
})
export class ChatModule {}
