import { Module } from '@nestjs/common';
import { RequestLogModule } from '../../../core/ledger/request-log/request-log.module.js';
import { AnalyticsController } from './analytics.controller.js';
import { AnalyticsService } from './analytics.service.js';

/** The tenant's requests, added up: `/v1/customer/analytics`. */
@Module({
  imports: [RequestLogModule],
  controllers: [AnalyticsController],
  providers: [AnalyticsService],
})
export class AnalyticsModule {}
