import { Module } from '@nestjs/common';
import { AnswersModule } from '../../core/answers/answers.module.js';
import { SpeechService } from './speech.service.js';
import {
  TranscriptionsController,
  TranslationsController,
  SpeechController,
} from './audio.controller.js';
import { TranscriptionsService } from './transcriptions.service.js';
import { UploadsModule } from '../../platform/http/upload-folder.js';

@Module({
  imports: [AnswersModule, UploadsModule],
  controllers: [SpeechController, TranscriptionsController, TranslationsController],
  providers: [SpeechService, TranscriptionsService],
})
export class AudioModule {}
