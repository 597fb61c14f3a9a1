import { Module } from '@nestjs/common';
import { AlertsModule } from '../../core/alerts/alerts.module.js';
import { TenantsModule } from '../../core/tenants/tenants.module.js';
import { AdminAlertEventsController, AdminAlertsController } from './admin-alerts.controller.js';
import { AlertsService } from './alerts.service.js';
import {
  CustomerAlertEventsController,
  CustomerAlertsController,
} from './customer-alerts.controller.js';
import { OperatorSecretController } from './operator-secret.controller.js';

/** API for the alert rules of tenants and operators. */
@Module({
  imports: [AlertsModule, TenantsModule],
  controllers: [
    CustomerAlertsController,
    CustomerAlertEventsController,
    AdminAlertsController,
    AdminAlertEventsController,
    OperatorSecretController,
  ],
  providers: [AlertsService],
})
export class AlertRulesModule {}
