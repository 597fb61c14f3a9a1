import { Module } from '@nestjs/common';
import { AnswersModule } from '../../core/answers/answers.module.js';
import { MessagesController } from './messages.controller.js';
import { MessagesService } from './messages.service.js';

@Module({
  imports: [AnswersModule],
  controllers: [MessagesController],
  providers: [MessagesService],
})
export class MessagesModule {}
