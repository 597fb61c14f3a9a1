import { Module } from '@nestjs/common';
import { ContentModule } from '../../core/content/content.module.js';
import { CredentialsModule } from '../../core/credentials/credentials.module.js';
import { GuardrailsModule } from '../../core/guardrails/guardrails.module.js';
import { LedgerModule } from '../../core/ledger/ledger.module.js';
import { ReceiptReader } from '../../core/ledger/receipts/receipt.reader.js';
import { RequestLogModule } from '../../core/request-log/request-log.module.js';
import { SigningKeys } from '../../core/ledger/receipts/signing-keys.service.js';
import { LimitsModule } from '../../core/limits/limits.module.js';
import { PeopleModule } from '../../core/people/people.module.js';
import { TenantsModule } from '../../core/tenants/tenants.module.js';
import { OutboundModule } from '../../platform/outbound/outbound.module.js';
import { AnalyticsController } from './analytics/analytics.controller.js';
import { AnalyticsService } from './analytics/analytics.service.js';
import { ApiKeysController } from './api-keys/api-keys.controller.js';
import { ApiKeysService } from './api-keys/api-keys.service.js';
import { AuditLogController } from './audit-log/audit-log.controller.js';
import { ContentLogController } from './content-log/content-log.controller.js';
import { SettingsController } from './settings/settings.controller.js';
import { CurrentKeyController } from './current-key/current-key.controller.js';
import { CurrentKeyService } from './current-key/current-key.service.js';
import {
  CompatibleGenerationController,
  GenerationController,
} from './generation/generation.controller.js';
import { GenerationService } from './generation/generation.service.js';
import { GuardrailEventsController } from './guardrail-events/guardrail-events.controller.js';
import { CustomerGuardrailsController } from './guardrails/customer-guardrails.controller.js';
import { CustomerGuardrailsService } from './guardrails/customer-guardrails.service.js';
import { LedgerEntriesController } from './ledger-entries/ledger-entries.controller.js';
import { LedgerEntriesService } from './ledger-entries/ledger-entries.service.js';
import { LimitsController } from './limits/limits.controller.js';
import { CustomerLimitsService } from './limits/limits.service.js';
import { LogsController } from './logs/logs.controller.js';
import { RequestContentController } from './logs/request-content.controller.js';
import { LogsService } from './logs/logs.service.js';
import { InvitationsController, MembersController } from './members/members.controller.js';
import { ProviderCredentialsController } from './provider-credentials/provider-credentials.controller.js';
import { ProviderCredentialsService } from './provider-credentials/provider-credentials.service.js';
import { KeySetController, ReceiptsController } from './receipts/receipts.controller.js';
import { ReceiptsService } from './receipts/receipts.service.js';
import { StatementsController } from './statements/statements.controller.js';
import { StatementsService } from './statements/statements.service.js';
import { WebhookDeliveriesController } from './webhook-secret/webhook-deliveries.controller.js';
import { WebhookDeliveryRepository } from '../../platform/outbound/webhook-delivery.repository.js';
import { WebhookSecretController } from './webhook-secret/webhook-secret.controller.js';

/** Tenant self-service API. Each folder is a small feature named after its path. */
@Module({
  imports: [
    ContentModule,
    CredentialsModule,
    GuardrailsModule,
    LedgerModule,
    LimitsModule,
    OutboundModule,
    PeopleModule,
    RequestLogModule,
    TenantsModule,
  ],
  controllers: [
    ApiKeysController,
    AuditLogController,
    CustomerGuardrailsController,
    ProviderCredentialsController,
    LimitsController,
    LogsController,
    AnalyticsController,
    StatementsController,
    GenerationController,
    CompatibleGenerationController,
    CurrentKeyController,
    WebhookSecretController,
    ReceiptsController,
    KeySetController,
    MembersController,
    InvitationsController,
    ContentLogController,
    SettingsController,
    RequestContentController,
    GuardrailEventsController,
    LedgerEntriesController,
    WebhookDeliveriesController,
  ],
  providers: [
    AnalyticsService,
    ApiKeysService,
    CurrentKeyService,
    CustomerGuardrailsService,
    CustomerLimitsService,
    GenerationService,
    LogsService,
    ProviderCredentialsService,
    StatementsService,
    ReceiptReader,
    ReceiptsService,
    SigningKeys,
    LedgerEntriesService,
    WebhookDeliveryRepository,
  ],
})
export class CustomerModule {}
