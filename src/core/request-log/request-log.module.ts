import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { RequestLogEntity } from './request-log.entity.js';
import { RequestLogCorrectionEntity } from './request-log-correction.entity.js';
import { RequestLogCountEntity } from './request-log-count.entity.js';
import { RequestLogFacetSumEntity } from './request-log-facet-sum.entity.js';
import { RequestLogProgressEntity } from './request-log-progress.entity.js';
import { RequestLogRollUpEntity } from './request-log-roll-up.entity.js';
import { RequestLogSeriesEntity } from './request-log-series.entity.js';
import { RequestLogSeriesCorrectionEntity } from './request-log-series-correction.entity.js';
import { RequestLogSeriesSumEntity } from './request-log-series-sum.entity.js';
import { ArchivedRequestLogEntity } from './archive/archived-request-log.entity.js';
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
  imports: [
    TypeOrmModule.forFeature([
      RequestLogEntity,
      RequestLogCorrectionEntity,
      RequestLogCountEntity,
      RequestLogFacetSumEntity,
      RequestLogProgressEntity,
      RequestLogRollUpEntity,
      RequestLogSeriesEntity,
      RequestLogSeriesCorrectionEntity,
      RequestLogSeriesSumEntity,
      ArchivedRequestLogEntity,
    ]),
  ],
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
