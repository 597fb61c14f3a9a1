import { Module } from '@nestjs/common';
import { OutboundModule } from '../../platform/outbound/outbound.module.js';
import { AlertDeliveries } from './alert-deliveries.service.js';
import { AlertEvaluator } from './alert-evaluator.service.js';
import { AlertEventRepository } from './alert-event.repository.js';
import { AlertRuleRepository } from './alert-rule.repository.js';
import { AlertSender } from './alert-sender.js';

/** What operators and tenants are told of without having asked: from the look to the delivery. */
@Module({
  imports: [OutboundModule],
  providers: [
    AlertDeliveries,
    AlertEvaluator,
    AlertEventRepository,
    AlertRuleRepository,
    AlertSender,
  ],
  exports: [AlertEventRepository, AlertRuleRepository, AlertSender, OutboundModule],
})
export class AlertsModule {}
