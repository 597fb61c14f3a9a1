import { ApiProperty, ApiPropertyOptional, IntersectionType, OmitType } from '@nestjs/swagger';
import { IsString } from 'class-validator';
import { LOG_DIMENSIONS } from '../../../core/request-log/log-dimensions.js';
import {
  LogGroupDto,
  LogGroupListDto,
  LogSumsDto,
} from '../../../core/request-log/log-groups.dto.js';
import { GROUP_LIMIT, LogFilterQueryDto } from '../../../core/request-log/log-query.dto.js';
import { PageLimit } from '../../../platform/http/field.decorators.js';

const PERCENTILE =
  'Milliseconds, within 5 %; null with two dimensions, with a filter, and with those that were not there from the beginning (`route`, `endpoint`, `end_user`, `month`, tags).';

/** What the requests are grouped by, and which of them are counted. */
export class AnalyticsQueryDto extends LogFilterQueryDto {
  @ApiPropertyOptional({
    default: 'model',
    description: `One of ${LOG_DIMENSIONS.map((name) => `\`${name}\``).join(', ')} and \`tag:<key>\`, or two of them with a comma between.`,
  })
  @IsString({ message: 'group_by must be one dimension, or two with a comma between' })
  group_by: string = 'model';

  @PageLimit({ ...GROUP_LIMIT, description: 'Groups in the answer.' })
  limit: number = GROUP_LIMIT.default;
}

class PercentilesDto {
  @ApiProperty({ type: 'integer', nullable: true, description: PERCENTILE, example: 1830 })
  latency_p50!: number | null;

  @ApiProperty({ type: 'integer', nullable: true, description: PERCENTILE, example: 6480 })
  latency_p95!: number | null;

  @ApiProperty({ type: 'integer', nullable: true, description: PERCENTILE, example: 9120 })
  latency_p99!: number | null;
}

export class AnalyticsSumsDto extends IntersectionType(LogSumsDto, PercentilesDto) {}

export class AnalyticsGroupDto extends IntersectionType(LogGroupDto, PercentilesDto) {
  @ApiProperty({
    description:
      'The values of `groups`, with a comma and a space between; an empty text for null.',
    example: 'openai/gpt-4o-mini',
  })
  group!: string;
}

/** The tenant's requests, added up. */
export class AnalyticsDto extends OmitType(LogGroupListDto, ['data', 'total']) {
  @ApiProperty({
    type: [AnalyticsGroupDto],
    description: 'Times in their order, all else by cost, the dearest first.',
  })
  data!: AnalyticsGroupDto[];

  @ApiProperty({ type: AnalyticsSumsDto, description: 'Over all groups, shown or not.' })
  total!: AnalyticsSumsDto;
}
