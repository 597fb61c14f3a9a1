import { Module } from '@nestjs/common';
import { GuardrailsModule } from '../../core/guardrails/guardrails.module.js';
import { LedgerModule } from '../../core/ledger/ledger.module.js';
import { RoutingModule } from '../../core/routing/routing.module.js';
import { TracingModule } from '../../core/tracing/tracing.module.js';
import { SpeechController } from './speech.controller.js';
import { SpeechService } from './speech.service.js';
import { TranscriptionsController } from './transcriptions.controller.js';
import { TranscriptionsService } from './transcriptions.service.js';
import { UploadFolder } from './upload-folder.js';

@Module({
  imports: [RoutingModule, LedgerModule, GuardrailsModule, TracingModule],
  controllers: [SpeechController, TranscriptionsController],
  providers: [SpeechService, TranscriptionsService, UploadFolder],
})
export class AudioModule {}
