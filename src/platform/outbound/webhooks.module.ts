import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { WebhookDeliveryEntity } from './webhook-delivery.entity.js';
import { OutboundModule } from './outbound.module.js';
import { WebhookDeliveries } from './webhook-deliveries.js';
import { WebhookDeliveryRepository } from './webhook-delivery.repository.js';
import { WebhookWorker } from './webhook-worker.service.js';

/** Provides webhooks, from the transaction that causes one to its delivery. */
@Module({
  imports: [TypeOrmModule.forFeature([WebhookDeliveryEntity]), OutboundModule],
  providers: [WebhookDeliveries, WebhookDeliveryRepository, WebhookWorker],
  exports: [WebhookDeliveries, OutboundModule],
})
export class WebhooksModule {}
