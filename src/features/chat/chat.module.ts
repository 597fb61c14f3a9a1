import { Module } from '@nestjs/common';
import { AnswersModule } from '../../core/answers/answers.module.js';
import { ChatController } from './chat.controller.js';
import { ChatService } from './chat.service.js';

@Module({
  imports: [AnswersModule],
  controllers: [ChatController],
  providers: [ChatService],
})
export class ChatModule {}
