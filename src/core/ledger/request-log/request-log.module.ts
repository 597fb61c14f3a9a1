import { Module } from '@nestjs/common';
import { RequestLogAnalyticsReader } from './request-log-analytics.reader.js';
import { RequestLogReader } from './request-log.reader.js';
import { RequestLogRetentionService } from './request-log-retention.service.js';
import { RequestLogRollUpService } from './request-log-roll-up.service.js';

/** One row per request: written with its settlement by the ledger, read and added up here. */
@Module({
  providers: [
    RequestLogAnalyticsReader,
    RequestLogReader,
    RequestLogRetentionService,
    RequestLogRollUpService,
  ],
  exports: [RequestLogAnalyticsReader, RequestLogReader],
})
export class RequestLogModule {}
