import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { AlertEventEntity } from './alert-event.entity.js';
import { AlertMinuteEntity, AlertProgressEntity } from './alert-minute.entity.js';
import { AlertRuleEntity } from './alert-rule.entity.js';
import { OutboundModule } from '../../platform/outbound/outbound.module.js';
import { AlertDeliveries } from './alert-deliveries.service.js';
import { AlertEvaluator } from './alert-evaluator.service.js';
import { AlertEventRepository } from './alert-event.repository.js';
import { AlertRuleRepository } from './alert-rule.repository.js';
import { AlertSender } from './alert-sender.js';

/** Evaluates alert rules and delivers their notifications. */
@Module({
  imports: [
    TypeOrmModule.forFeature([
      AlertEventEntity,
      AlertMinuteEntity,
      AlertProgressEntity,
      AlertRuleEntity,
    ]),
    OutboundModule,
  ],
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
