import {
  BooleanField,
  DateTimeField,
  EnumField,
  IntegerField,
  StringField,
  UuidField,
} from '../../../platform/http/field.decorators.js';
import {
  ObjectField,
  ObjectListField,
  StringListField,
} from '../../../platform/http/nested-field.decorators.js';
import { PageLimit, PageOffset } from '../../../platform/http/cursor-page.js';
import { LogRowDto } from '../../../core/request-log/log-row.dto.js';
import { LogRowFilterQueryDto } from '../../../core/request-log/log-query.dto.js';
import {
  GUARDRAIL_ACTIONS,
  GUARDRAIL_DIRECTIONS,
  type GuardrailAction,
  type GuardrailDirection,
} from '../../../core/guardrails/guardrail-rule.js';

class LogPaginationDto {
  @IntegerField({ description: 'Total matching rows.', example: 1042 })
  total!: number;

  @BooleanField({
    description:
      'False: `total` is a lower bound, and later pages may have more. With `min_cost`, `max_cost`, several unselective filters, or `tag` or `end_user` where analytics have an `is_rest`, a page scans 30,000 rows and can have fewer rows than the limit.',
    example: true,
  })
  total_is_exact!: boolean;

  @IntegerField({ description: 'The applied limit.', example: 50 })
  limit!: number;

  @IntegerField({ example: 0 })
  offset!: number;

  @BooleanField({ description: 'Whether more rows follow.', example: true })
  has_more!: boolean;

  @StringField({
    nullable: true,
    description: '`cursor` of the next page; null on the last one.',
    example: null,
  })
  next_cursor!: string | null;
}

export class LogListDto {
  @ObjectListField(LogRowDto, { description: 'Newest first.' })
  logs!: LogRowDto[];

  @ObjectField(LogPaginationDto)
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

  @StringField({
    optional: true,
    description:
      '`next_cursor` of the previous page, with the same filters. Unlike `offset`, pages do not shift when new requests arrive. If both are sent, `offset` counts from the cursor.',
    message: 'must be one cursor',
  })
  cursor?: string;
}

/** Rows written since a given row. */
export class NewerLogsDto {
  @EnumField(['list'], { example: 'list' })
  object!: 'list';

  @ObjectListField(LogRowDto, { description: 'Most recently written first.' })
  data!: LogRowDto[];

  @BooleanField({ description: 'Whether there are more rows than the limit.', example: false })
  has_more!: boolean;
}

export class LogFacetsQueryDto {
  @StringField({
    optional: true,
    description:
      'Start of the range, in whole months: `YYYY-MM-DD` or ISO 8601. Defaults to 31 days ago.',
    message: 'must be one date',
  })
  start_date?: string;
}

class LogKeyFacetDto {
  @UuidField()
  id!: string;

  @StringField({ nullable: true, description: "The key's name.", example: 'shop' })
  name!: string | null;
}

class LogTagFacetDto {
  @StringField({ example: 'team' })
  key!: string;

  @StringListField({ description: 'At most 100.', example: ['search'] })
  values!: string[];
}

/** Filter values of the log. */
export class LogFacetsDto {
  @StringListField({ example: ['sandbox/echo'] })
  models!: string[];

  @StringListField({ example: ['sandbox'] })
  providers!: string[];

  @StringListField({ description: 'Kinds of calls.', example: ['chat'] })
  endpoints!: string[];

  @ObjectListField(LogKeyFacetDto)
  api_keys!: LogKeyFacetDto[];

  @ObjectListField(LogTagFacetDto, { description: 'At most 20.' })
  tags!: LogTagFacetDto[];
}

class LogGuardrailDto {
  @UuidField()
  guardrail_id!: string;

  @StringField({ nullable: true, description: 'Null when deleted.' })
  name!: string | null;

  @EnumField(GUARDRAIL_ACTIONS, { example: 'block' })
  action!: GuardrailAction;

  @EnumField(GUARDRAIL_DIRECTIONS, { example: 'input' })
  direction!: GuardrailDirection;

  @DateTimeField()
  created_at!: string;
}

/** A request with details that the list leaves out. */
export class LogDetailDto extends LogRowDto {
  @BooleanField({ description: 'Whether the answer was streamed.', example: true })
  streamed!: boolean;

  @StringField({ nullable: true, example: 'stop' })
  finish_reason!: string | null;

  @IntegerField({
    description: 'Milliseconds from the first content to the end of the answer.',
    example: 1510,
  })
  generation_time_ms!: number;

  @ObjectListField(LogGuardrailDto, {
    description: 'Guardrail events, available shortly after the end.',
  })
  guardrails!: LogGuardrailDto[];
}
