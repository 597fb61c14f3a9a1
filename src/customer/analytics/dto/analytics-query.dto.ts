import { ApiPropertyOptional } from '@nestjs/swagger';
import { IsIn, IsOptional, IsString } from 'class-validator';
import {
  REQUEST_LOG_GROUPINGS,
  type RequestLogGrouping,
} from '../../../request-log/request-log-analytics.reader.js';

/** What the requests are grouped by, and which of them are counted. */
export class AnalyticsQueryDto {
  @ApiPropertyOptional({ enum: REQUEST_LOG_GROUPINGS, default: 'model' })
  @IsIn(REQUEST_LOG_GROUPINGS, {
    message: `group_by must be one of ${REQUEST_LOG_GROUPINGS.join(', ')}`,
  })
  group_by: RequestLogGrouping = 'model';

  @ApiPropertyOptional({
    description: 'The first day or instant, as `YYYY-MM-DD` or ISO 8601; UTC without an offset.',
  })
  @IsOptional()
  @IsString({ message: 'start_date must be one date' })
  start_date?: string;

  @ApiPropertyOptional({
    description:
      'The last day or instant, itself included, as `YYYY-MM-DD` or ISO 8601; UTC without an offset.',
  })
  @IsOptional()
  @IsString({ message: 'end_date must be one date' })
  end_date?: string;
}
