import { Module } from '@nestjs/common';
import { ApiKeysModule } from './api-keys/api-keys.module.js';
import { GenerationModule } from './generation/generation.module.js';
import { CustomerGuardrailsModule } from './guardrails/customer-guardrails.module.js';
import { LogsModule } from './logs/logs.module.js';

/** What a tenant manages and looks up itself. Each sub-folder is a small feature. */
@Module({ imports: [ApiKeysModule, CustomerGuardrailsModule, LogsModule, GenerationModule] })
export class CustomerModule {}
