import { Module } from '@nestjs/common';
import { ArchiveBucket } from './archive/archive-bucket.js';
import { RequestLogArchive } from './archive/request-log-archive.js';
import { RequestLogAnalyticsReader } from './request-log-analytics.reader.js';
import { RequestLogFacetsReader } from './request-log-facets.reader.js';
import { RequestLogGroupsReader } from './request-log-groups.reader.js';
import { RequestLogOverTenantsReader } from './request-log-over-tenants.reader.js';
import { RequestLogReader } from './request-log.reader.js';
import { RequestLogRetentionService } from './request-log-retention.service.js';
import { RequestLogRollUpService } from './request-log-roll-up.service.js';

/**
 * Provides readers of the request log; the ledger writes one row per request with its settlement.
 */
@Module({
  providers: [
    ArchiveBucket,
    RequestLogArchive,
    RequestLogAnalyticsReader,
    RequestLogFacetsReader,
    RequestLogGroupsReader,
    RequestLogOverTenantsReader,
    RequestLogReader,
    RequestLogRetentionService,
    RequestLogRollUpService,
  ],
  exports: [
    ArchiveBucket,
    RequestLogArchive,
    RequestLogAnalyticsReader,
    RequestLogFacetsReader,
    RequestLogGroupsReader,
    RequestLogOverTenantsReader,
    RequestLogReader,
  ],
})
export class RequestLogModule {}
