import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { StoredResponseEntity } from './stored-response.entity.js';
import { BackgroundResponseEntity } from './background/background-response.entity.js';
import { ConversationEntity } from './conversations/conversation.entity.js';
import { ConversationItemEntity } from './conversations/conversation-item.entity.js';
import { AnswersModule } from '../../core/answers/answers.module.js';
import { TokenCounter } from '../../core/ledger/token-counter.js';
import { BackgroundResponsesRepository } from './background/background-responses.repository.js';
import { BackgroundResponses } from './background/background-responses.service.js';
import { BackgroundWorker } from './background/background-worker.service.js';
import { CompactionsService } from './compactions.service.js';
import { ConversationsService } from './conversations.service.js';
import { ConversationsController } from './conversations/conversations.controller.js';
import { StoredConversationsRepository } from './conversations/stored-conversations.repository.js';
import { StoredConversationsService } from './conversations/stored-conversations.service.js';
import { ItemReferencesService } from './item-references.service.js';
import { ResponsesController, StoredResponsesController } from './responses.controller.js';
import { ResponsesService } from './responses.service.js';
import { ResponseSockets } from './socket/response-sockets.service.js';
import { StoredContentLimit } from './stored-content-limit.service.js';
import { StoredResponsesRepository } from './stored-responses.repository.js';
import { ConversationContextService } from './conversation-context.service.js';
import { ConversationToolsService } from './conversation-tools.service.js';
import { StoredResponsesService, ResponseRetentionService } from './stored-responses.service.js';
import { QuotesService } from '../../core/answers/quotes.service.js';

@Module({
  imports: [
    TypeOrmModule.forFeature([
      StoredResponseEntity,
      BackgroundResponseEntity,
      ConversationEntity,
      ConversationItemEntity,
    ]),
    AnswersModule,
  ],
  controllers: [ResponsesController, StoredResponsesController, ConversationsController],
  providers: [
    BackgroundResponses,
    BackgroundResponsesRepository,
    BackgroundWorker,
    CompactionsService,
    ConversationsService,
    ItemReferencesService,
    ResponseRetentionService,
    ResponseSockets,
    ResponsesService,
    StoredConversationsRepository,
    StoredContentLimit,
    StoredConversationsService,
    StoredResponsesRepository,
    StoredResponsesService,
    // Has its own thread, so that long prompts don't delay settlements.
    TokenCounter,
    ConversationContextService,
    ConversationToolsService,
  ],
})
export class ResponsesModule {
  constructor(quotes: QuotesService, responses: ResponsesService) {
    quotes.add('responses', async (body, call) => (await responses.read(body, call)).request);
  }
}
