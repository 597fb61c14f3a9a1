import { Module } from '@nestjs/common';
import { AnswersModule } from '../../core/answers/answers.module.js';
import { ChatController, CompletionsController } from './chat.controller.js';
import { ChatService } from './chat.service.js';
import { QuotesService } from '../../core/answers/quotes.service.js';
import { parseChat } from './chat.parse.js';
import { parseCompletion } from './completions.parse.js';

@Module({
  imports: [AnswersModule],
  controllers: [ChatController, CompletionsController],
  providers: [ChatService],
})
export class ChatModule {
  constructor(quotes: QuotesService) {
    quotes.add('chat', parseChat);
    quotes.add('completions', parseCompletion);
  }
}
