import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { IsOptional, IsString } from 'class-validator';
import { LogRowDto } from '../../../core/request-log/log-row.dto.js';
import { LogRowFilterQueryDto } from '../../../core/request-log/log-query.dto.js';
import {
  GUARDRAIL_ACTIONS,
  GUARDRAIL_DIRECTIONS,
  type GuardrailAction,
  type GuardrailDirection,
} from '../../../core/guardrails/guardrail-rule.js';
import { PageLimit, PageOffset } from '../../../platform/http/field.decorators.js';

class LogPaginationDto {
  @ApiProperty({ type: 'integer', description: 'Total matching rows.', example: 1042 })
  total!: number;

  @ApiProperty({
    description:
      'False: `total` is a lower bound, and later pages may have more. With `min_cost`, `max_cost`, several unselective filters, or `tag` or `end_user` where analytics have an `is_rest`, a page scans 30,000 rows and can have fewer rows than the limit.',
    example: true,
  })
  total_is_exact!: boolean;

  @ApiProperty({ type: 'integer', description: 'The applied limit.', example: 50 })
  limit!: number;

  @ApiProperty({ type: 'integer', example: 0 })
  offset!: number;

  @ApiProperty({ description: 'Whether more rows follow.', example: true })
  has_more!: boolean;

  @ApiProperty({
    type: String,
    nullable: true,
    description: '`cursor` of the next page; null on the last one.',
    example: null,
  })
  next_cursor!: string | null;
}

export class LogListDto {
  @ApiProperty({ type: [LogRowDto], description: 'Newest first.' })
  logs!: LogRowDto[];

  @ApiProperty({ type: LogPaginationDto })
  pagination!: LogPaginationDto;
}

/** Filters of a log export. */
export class LogsExportQueryDto extends LogRowFilterQueryDto {}

const DEFAULT_LIMIT = 50;

/** Larger values of `limit` are reduced to this. */
export const MAX_LIMIT = 100;

/** Filters and page of the log. Filters are combined with AND. */
export class LogsQueryDto extends LogRowFilterQueryDto {
  @PageLimit({
    default: DEFAULT_LIMIT,
    description: `Rows per page. Values above ${MAX_LIMIT} are reduced to ${MAX_LIMIT}.`,
  })
  limit: number = DEFAULT_LIMIT;

  @PageOffset('Rows')
  offset: number = 0;

  @ApiPropertyOptional({
    description:
      '`next_cursor` of the previous page, with the same filters. Unlike `offset`, pages do not shift when new requests arrive. If both are sent, `offset` counts from the cursor.',
  })
  @IsOptional()
  @IsString({ message: 'cursor must be one cursor' })
  cursor?: string;
}

/** Rows written since a given row. */
export class NewerLogsDto {
  @ApiProperty({ enum: ['list'], example: 'list' })
  object!: 'list';

  @ApiProperty({ type: [LogRowDto], description: 'Most recently written first.' })
  data!: LogRowDto[];

  @ApiProperty({ description: 'Whether there are more rows than the limit.', example: false })
  has_more!: boolean;
}

export class LogFacetsQueryDto {
  @ApiPropertyOptional({
    description:
      'Start of the range, in whole months: `YYYY-MM-DD` or ISO 8601. Defaults to 31 days ago.',
  })
  @IsOptional()
  @IsString({ message: 'start_date must be one date' })
  start_date?: string;
}

class LogKeyFacetDto {
  @ApiProperty({ format: 'uuid' })
  id!: string;

  @ApiProperty({ type: String, nullable: true, description: "The key's name.", example: 'shop' })
  name!: string | null;
}

class LogTagFacetDto {
  @ApiProperty({ example: 'team' })
  key!: string;

  @ApiProperty({ type: [String], description: 'At most 100.', example: ['search'] })
  values!: string[];
}

/** Filter values of the log. */
export class LogFacetsDto {
  @ApiProperty({ type: [String], example: ['sandbox/echo'] })
  models!: string[];

  @ApiProperty({ type: [String], example: ['sandbox'] })
  providers!: string[];

  @ApiProperty({ type: [String], description: 'Kinds of calls.', example: ['chat'] })
  endpoints!: string[];

  @ApiProperty({ type: [LogKeyFacetDto] })
  api_keys!: LogKeyFacetDto[];

  @ApiProperty({ type: [LogTagFacetDto], description: 'At most 20.' })
  tags!: LogTagFacetDto[];
}

class LogGuardrailDto {
  @ApiProperty({ format: 'uuid' })
  guardrail_id!: string;

  @ApiProperty({ type: String, nullable: true, description: 'Null when deleted.' })
  name!: string | null;

  @ApiProperty({ enum: GUARDRAIL_ACTIONS, example: 'block' })
  action!: GuardrailAction;

  @ApiProperty({ enum: GUARDRAIL_DIRECTIONS, example: 'input' })
  direction!: GuardrailDirection;

  @ApiProperty({ format: 'date-time' })
  created_at!: string;
}

/** A request with details that the list leaves out. */
export class LogDetailDto extends LogRowDto {
  @ApiProperty({ description: 'Whether the answer was streamed.', example: true })
  streamed!: boolean;

  @ApiProperty({ type: String, nullable: true, example: 'stop' })
  finish_reason!: string | null;

  @ApiProperty({
    type: 'integer',
    description: 'Milliseconds from the first content to the end of the answer.',
    example: 1510,
  })
  generation_time_ms!: number;

  @ApiProperty({
    type: [LogGuardrailDto],
    description: 'Guardrail events, available shortly after the end.',
  })
  guardrails!: LogGuardrailDto[];
}
