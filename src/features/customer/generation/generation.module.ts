import { Module } from '@nestjs/common';
import { RequestLogModule } from '../../../core/ledger/request-log/request-log.module.js';
import { GenerationController, CompatibleGenerationController } from './generation.controller.js';
import { GenerationService } from './generation.service.js';

/** What one request used and cost: `/v1/generation`. */
@Module({
  imports: [RequestLogModule],
  controllers: [GenerationController, CompatibleGenerationController],
  providers: [GenerationService],
})
export class GenerationModule {}
