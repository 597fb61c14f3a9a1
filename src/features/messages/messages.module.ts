import { Module } from '@nestjs/common';
import { AnswersModule } from '../../core/answers/answers.module.js';
import { MessagesController } from './messages.controller.js';
import { MessagesService } from './messages.service.js';
import { QuotesService } from '../../core/answers/quotes.service.js';
import { parseMessages } from './messages.parse.js';

@Module({
  imports: [AnswersModule],
  controllers: [MessagesController],
  providers: [MessagesService],
})
export class MessagesModule {
  constructor(quotes: QuotesService) {
    quotes.add('messages', (body, { headers }) => parseMessages(body, headers));
  }
}
