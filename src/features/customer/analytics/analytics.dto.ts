import { IntersectionType, OmitType } from '@nestjs/swagger';
import { IntegerField, StringField } from '../../../platform/http/field.decorators.js';
import { ObjectField, ObjectListField } from '../../../platform/http/nested-field.decorators.js';
import { PageLimit } from '../../../platform/http/cursor-page.js';
import { LOG_DIMENSIONS } from '../../../core/request-log/log-dimensions.js';
import {
  LogGroupDto,
  LogGroupListDto,
  LogSumsDto,
} from '../../../core/request-log/log-groups.dto.js';
import { GROUP_LIMIT, LogFilterQueryDto } from '../../../core/request-log/log-query.dto.js';

const PERCENTILE =
  'Milliseconds, within 5 %; null with two dimensions, with a filter, and for dimensions added later (`route`, `endpoint`, `end_user`, `month`, tags).';

/** Grouping and filters. */
export class AnalyticsQueryDto extends LogFilterQueryDto {
  @StringField({
    default: 'model',
    description: `One of ${LOG_DIMENSIONS.map((name) => `\`${name}\``).join(', ')} and \`tag:<key>\`, or two of them separated by a comma.`,
    message: 'must be one dimension, or two separated by a comma',
  })
  group_by: string = 'model';

  @PageLimit({ ...GROUP_LIMIT, description: 'Maximum number of groups.' })
  limit: number = GROUP_LIMIT.default;
}

class PercentilesDto {
  @IntegerField({ nullable: true, description: PERCENTILE, example: 1830 })
  latency_p50!: number | null;

  @IntegerField({ nullable: true, description: PERCENTILE, example: 6480 })
  latency_p95!: number | null;

  @IntegerField({ nullable: true, description: PERCENTILE, example: 9120 })
  latency_p99!: number | null;
}

export class AnalyticsSumsDto extends IntersectionType(LogSumsDto, PercentilesDto) {}

export class AnalyticsGroupDto extends IntersectionType(LogGroupDto, PercentilesDto) {
  @StringField({
    description: 'The values of `groups` joined with a comma and a space; empty for null.',
    example: 'openai/gpt-4o-mini',
  })
  group!: string;
}

/** Aggregated requests of a tenant. */
export class AnalyticsDto extends OmitType(LogGroupListDto, ['data', 'total']) {
  @ObjectListField(AnalyticsGroupDto, {
    description: 'Times in order; other groups by cost, highest first.',
  })
  data!: AnalyticsGroupDto[];

  @ObjectField(AnalyticsSumsDto, { description: 'Totals over all groups.' })
  total!: AnalyticsSumsDto;
}
