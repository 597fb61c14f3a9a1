import { Module } from '@nestjs/common';
import { AnswersModule } from '../../core/answers/answers.module.js';
import { ChatController, CompletionsController } from './chat.controller.js';
import { ChatService } from './chat.service.js';

@Module({
  imports: [AnswersModule],
  controllers: [ChatController, CompletionsController],
  providers: [ChatService],
})
export class ChatModule {}
