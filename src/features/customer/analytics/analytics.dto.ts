import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import {
  REQUEST_LOG_GROUPINGS,
  type RequestLogGrouping,
} from '../../../core/ledger/request-log/request-log-analytics.reader.js';
import { IsIn } from 'class-validator';
import { DateRangeQueryDto } from '../../../platform/http/date-range.js';

/** What the requests are grouped by, and which of them are counted. */
export class AnalyticsQueryDto extends DateRangeQueryDto {
  @ApiPropertyOptional({ enum: REQUEST_LOG_GROUPINGS, default: 'model' })
  @IsIn(REQUEST_LOG_GROUPINGS, {
    message: `group_by must be one of ${REQUEST_LOG_GROUPINGS.join(', ')}`,
  })
  group_by: RequestLogGrouping = 'model';
}

class AnalyticsTokensDto {
  @ApiProperty({ type: 'integer', example: 42_000 })
  prompt!: number;

  @ApiProperty({ type: 'integer', example: 9_600 })
  completion!: number;

  @ApiProperty({ type: 'integer', example: 51_600 })
  total!: number;
}

export class AnalyticsGroupDto {
  @ApiProperty({
    description:
      'The model alias, provider, key id or status; with `day` and `hour` the first instant of it.',
    example: 'openai/gpt-4o-mini',
  })
  group!: string;

  @ApiProperty({ type: 'integer', example: 100 })
  requests!: number;

  @ApiProperty({ type: 'integer', description: 'Requests with the status `error`.', example: 2 })
  errors!: number;

  @ApiProperty({ type: Number, description: 'From 0.0 to 1.0.', example: 0.02 })
  error_rate!: number;

  @ApiProperty({ type: AnalyticsTokensDto })
  tokens!: AnalyticsTokensDto;

  @ApiProperty({ type: 'integer', description: 'Credits charged.', example: 12_100 })
  cost!: number;

  @ApiProperty({ type: 'integer', description: 'Milliseconds, within 5 %.', example: 1830 })
  latency_p50!: number;

  @ApiProperty({ type: 'integer', description: 'Milliseconds, within 5 %.', example: 9120 })
  latency_p99!: number;
}

/** The tenant's requests, added up. */
export class AnalyticsDto {
  @ApiProperty({ enum: REQUEST_LOG_GROUPINGS, example: 'model' })
  group_by!: RequestLogGrouping;

  @ApiProperty({
    type: [AnalyticsGroupDto],
    description: 'Days and hours by time, other groups by cost, the dearest first.',
  })
  data!: AnalyticsGroupDto[];
}
