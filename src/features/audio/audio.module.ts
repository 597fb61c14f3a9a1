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
import { QuotesService } from '../../core/answers/quotes.service.js';
import { parseSpeech } from './speech.parse.js';

@Module({
  imports: [AnswersModule, UploadsModule],
  controllers: [SpeechController, TranscriptionsController, TranslationsController],
  providers: [SpeechService, TranscriptionsService],
})
export class AudioModule {
  constructor(quotes: QuotesService) {
    quotes.add('speech', parseSpeech);
  }
}
