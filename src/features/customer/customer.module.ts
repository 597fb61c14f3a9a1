import { Module } from '@nestjs/common';
import { AnalyticsModule } from './analytics/analytics.module.js';
import { ApiKeysModule } from './api-keys/api-keys.module.js';
import { CurrentKeyModule } from './current-key/current-key.module.js';
import { GenerationModule } from './generation/generation.module.js';
import { CustomerGuardrailsModule } from './guardrails/customer-guardrails.module.js';
import { LogsModule } from './logs/logs.module.js';
import { ProviderCredentialsModule } from './provider-credentials/provider-credentials.module.js';
import { StatementsModule } from './statements/statements.module.js';
import { WebhookSecretModule } from './webhook-secret/webhook-secret.module.js';

/** What a tenant manages and looks up itself. Each sub-folder is a small feature. */
@Module({
  imports: [
    ApiKeysModule,
    CustomerGuardrailsModule,
    ProviderCredentialsModule,
    LogsModule,
    AnalyticsModule,
    StatementsModule,
    GenerationModule,
    CurrentKeyModule,
    WebhookSecretModule,
  ],
})
export class CustomerModule {}
