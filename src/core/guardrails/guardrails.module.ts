import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { GuardrailEntity } from './guardrail.entity.js';
import { GuardrailEventEntity } from './guardrail-event.entity.js';
import { GuardrailEvents } from './guardrail-events.service.js';
import { GuardrailDirectory } from './guardrail-directory.service.js';
import { GuardrailRepository } from './guardrail.repository.js';
import { GuardrailTrial } from './guardrail-trial.service.js';
import { GuardrailTriggerLog } from './guardrail-trigger.log.js';
import { GuardrailsService } from './guardrails.service.js';
import { PatternGauge } from './pattern-gauge.service.js';
import { PatternScanPool } from './pattern-scan.pool.js';
import { TextScanner } from './text-scanner.service.js';

@Module({
  imports: [TypeOrmModule.forFeature([GuardrailEntity, GuardrailEventEntity])],
  providers: [
    GuardrailDirectory,
    GuardrailEvents,
    GuardrailRepository,
    GuardrailTrial,
    GuardrailTriggerLog,
    GuardrailsService,
    PatternGauge,
    PatternScanPool,
    TextScanner,
  ],
  exports: [
    GuardrailDirectory,
    GuardrailEvents,
    GuardrailRepository,
    GuardrailTrial,
    GuardrailTriggerLog,
    GuardrailsService,
    PatternGauge,
  ],
})
export class GuardrailsModule {}
