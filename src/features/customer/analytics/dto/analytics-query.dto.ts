import { ApiPropertyOptional } from '@nestjs/swagger';
import { IsIn } from 'class-validator';
import { DateRangeQueryDto } from '../../../../platform/http/date-range.js';
import {
  REQUEST_LOG_GROUPINGS,
  type RequestLogGrouping,
} from '../../../../core/ledger/request-log/request-log-analytics.reader.js';

/** What the requests are grouped by, and which of them are counted. */
export class AnalyticsQueryDto extends DateRangeQueryDto {
  @ApiPropertyOptional({ enum: REQUEST_LOG_GROUPINGS, default: 'model' })
  @IsIn(REQUEST_LOG_GROUPINGS, {
    message: `group_by must be one of ${REQUEST_LOG_GROUPINGS.join(', ')}`,
  })
  group_by: RequestLogGrouping = 'model';
}
