import { Module } from '@nestjs/common';
import { GuardrailsModule } from '../../core/guardrails/guardrails.module.js';
import { LedgerModule } from '../../core/ledger/ledger.module.js';
import { RoutingModule } from '../../core/routing/routing.module.js';
import { TracingModule } from '../../core/tracing/tracing.module.js';
import { ConversationsService } from './conversations.service.js';
import { ItemReferencesService } from './item-references.service.js';
import { ResponseRetentionService } from './response-retention.service.js';
import { ResponsesController } from './responses.controller.js';
import { ResponsesService } from './responses.service.js';
import { StoredResponsesController } from './stored-responses.controller.js';
import { StoredResponsesRepository } from './stored-responses.repository.js';
import { StoredResponsesService } from './stored-responses.service.js';

@Module({
  imports: [RoutingModule, LedgerModule, GuardrailsModule, TracingModule],
  controllers: [ResponsesController, StoredResponsesController],
  providers: [
    ConversationsService,
    ItemReferencesService,
    ResponseRetentionService,
    ResponsesService,
    StoredResponsesRepository,
    StoredResponsesService,
  ],
})
export class ResponsesModule {}
