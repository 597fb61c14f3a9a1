import { Module } from '@nestjs/common';
import { AnswersModule } from '../../core/answers/answers.module.js';
import { ConversationsService } from './conversations.service.js';
import { ItemReferencesService } from './item-references.service.js';
import { ResponsesController, StoredResponsesController } from './responses.controller.js';
import { ResponsesService } from './responses.service.js';
import { StoredResponsesRepository } from './stored-responses.repository.js';
import { StoredResponsesService, ResponseRetentionService } from './stored-responses.service.js';

@Module({
  imports: [AnswersModule],
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
