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
  @ApiProperty({ type: 'integer', description: 'Rows that match, on all pages.', example: 1042 })
  total!: number;

  @ApiProperty({
    description:
      'False: older rows may match besides, and be on later pages. With `min_cost` or `max_cost`, with several filters that many requests pass, and with `tag` or `end_user` where analytics have an `is_rest`, 30,000 rows are looked at for a page, which may have fewer rows than the limit.',
    example: true,
  })
  total_is_exact!: boolean;

  @ApiProperty({ type: 'integer', description: 'The limit that was applied.', example: 50 })
  limit!: number;

  @ApiProperty({ type: 'integer', example: 0 })
  offset!: number;

  @ApiProperty({ description: 'Whether rows follow this page.', example: true })
  has_more!: boolean;

  @ApiProperty({
    type: String,
    nullable: true,
    description: 'What to send as `cursor` for the next page; null on the last one.',
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

/** Which part of the request log is exported. */
export class LogsExportQueryDto extends LogRowFilterQueryDto {}

const DEFAULT_LIMIT = 50;

/** A larger `limit` is taken for this one. */
export const MAX_LIMIT = 100;

/** Which part of the request log is asked for. Filters add up. */
export class LogsQueryDto extends LogRowFilterQueryDto {
  @PageLimit({
    default: DEFAULT_LIMIT,
    description: `Rows per page; more than ${MAX_LIMIT} is taken for ${MAX_LIMIT}.`,
  })
  limit: number = DEFAULT_LIMIT;

  @PageOffset('Rows')
  offset: number = 0;

  @ApiPropertyOptional({
    description:
      'The `next_cursor` of the page before, with the same filters. Pages do not shift by it as new requests come, as they do by `offset`, which counts from there if both are sent.',
  })
  @IsOptional()
  @IsString({ message: 'cursor must be one cursor' })
  cursor?: string;
}

/** What has come to the log since the last look. */
export class NewerLogsDto {
  @ApiProperty({ enum: ['list'], example: 'list' })
  object!: 'list';

  @ApiProperty({ type: [LogRowDto], description: 'The one that was written last first.' })
  data!: LogRowDto[];

  @ApiProperty({ description: 'Whether there is more than the limit.', example: false })
  has_more!: boolean;
}

export class LogFacetsQueryDto {
  @ApiPropertyOptional({
    description:
      'Of requests since then, whole months: `YYYY-MM-DD` or ISO 8601. By default the last 31 days.',
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

  @ApiProperty({ type: [String], description: '100 at most.', example: ['search'] })
  values!: string[];
}

/** What the log can be filtered by. */
export class LogFacetsDto {
  @ApiProperty({ type: [String], example: ['sandbox/echo'] })
  models!: string[];

  @ApiProperty({ type: [String], example: ['sandbox'] })
  providers!: string[];

  @ApiProperty({ type: [String], description: 'Kinds of calls.', example: ['chat'] })
  endpoints!: string[];

  @ApiProperty({ type: [LogKeyFacetDto] })
  api_keys!: LogKeyFacetDto[];

  @ApiProperty({ type: [LogTagFacetDto], description: '20 at most.' })
  tags!: LogTagFacetDto[];
}

class LogGuardrailDto {
  @ApiProperty({ format: 'uuid' })
  guardrail_id!: string;

  @ApiProperty({ type: String, nullable: true, description: 'Null: it is deleted.' })
  name!: string | null;

  @ApiProperty({ enum: GUARDRAIL_ACTIONS, example: 'block' })
  action!: GuardrailAction;

  @ApiProperty({ enum: GUARDRAIL_DIRECTIONS, example: 'input' })
  direction!: GuardrailDirection;

  @ApiProperty({ format: 'date-time' })
  created_at!: string;
}

/** One request, with what is too much for a list. */
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
    description: 'What guardrails found, a moment after the answer had ended.',
  })
  guardrails!: LogGuardrailDto[];
}
