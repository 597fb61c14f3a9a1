import { Module } from '@nestjs/common';
import { AnswersModule } from '../../core/answers/answers.module.js';
import { SpeechService } from './speech.service.js';
import {
  TranscriptionsController,
  TranslationsController,
  SpeechController,
} from './audio.controller.js';
import { TranscriptionsService } from './transcriptions.service.js';
import { UploadFolder } from '../../platform/http/upload-folder.js';

@Module({
  imports: [AnswersModule],
  controllers: [SpeechController, TranscriptionsController, TranslationsController],
  providers: [SpeechService, TranscriptionsService, UploadFolder],
})
export class AudioModule {}
