import { Module } from '@nestjs/common';
import { GuardrailsModule } from '../guardrails/guardrails.module.js';
import { TracingModule } from '../tracing/tracing.module.js';
import { ContentCipher } from './content-cipher.js';
import { ContentLog } from './content-log.service.js';
import { ContentRetention } from './content-retention.service.js';
import { ContentWriter } from './content-writer.service.js';
import { ContentRepository } from './content.repository.js';

/** Provides the content log. */
@Module({
  imports: [GuardrailsModule, TracingModule],
  providers: [ContentCipher, ContentLog, ContentRepository, ContentRetention, ContentWriter],
  exports: [ContentLog],
})
export class ContentModule {}
