import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { ContentKeyEntity } from './content-key.entity.js';
import { RequestContentEntity } from './request-content.entity.js';
import { GuardrailsModule } from '../guardrails/guardrails.module.js';
import { TracingModule } from '../tracing/tracing.module.js';
import { ContentCipher } from './content-cipher.js';
import { ContentLog } from './content-log.service.js';
import { ContentRetention } from './content-retention.service.js';
import { ContentWriter } from './content-writer.service.js';
import { ContentRepository } from './content.repository.js';

/** Provides the content log. */
@Module({
  imports: [
    TypeOrmModule.forFeature([ContentKeyEntity, RequestContentEntity]),
    GuardrailsModule,
    TracingModule,
  ],
  providers: [ContentCipher, ContentLog, ContentRepository, ContentRetention, ContentWriter],
  exports: [ContentLog],
})
export class ContentModule {}
