import { Module } from '@nestjs/common';
import { OutboundModule } from '../../../platform/outbound/outbound.module.js';
import { WebhookSecretController } from './webhook-secret.controller.js';

/** What a tenant checks its webhooks with: `/v1/customer/webhook-secret`. */
@Module({ imports: [OutboundModule], controllers: [WebhookSecretController] })
export class WebhookSecretModule {}
