import { Controller, Get, Header, Query } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { type Caller } from '../../../core/access/caller.js';
import {
  CursorPageDto,
  CursorPageQueryDto,
  readCursor,
  toCursorPage,
} from '../../../platform/http/cursor-page.js';
import {
  DateTimeField,
  EnumField,
  IntegerField,
  StringField,
  UuidField,
} from '../../../platform/http/field.decorators.js';
import { ObjectListField } from '../../../platform/http/nested-field.decorators.js';
import { CurrentAuthor, type Author } from '../../../core/access/author.js';
import { ApiFilters, Customer, mayReadContent } from '../../../core/access/customer.decorator.js';
import { CurrentCaller } from '../../../core/access/gateway-request.js';
import { ContentLog } from '../../../core/content/content-log.service.js';
import {
  GuardrailEvents,
  type GuardrailEvent,
} from '../../../core/guardrails/guardrail-events.service.js';
import {
  GUARDRAIL_ACTIONS,
  GUARDRAIL_DIRECTIONS,
  type GuardrailAction,
  type GuardrailDirection,
} from '../../../core/guardrails/guardrail-rule.js';
import { Members } from '../../../core/access/roles.js';
import { ApiErrorResponse } from '../../../platform/errors/error-response.js';
import { InvalidRequestError, PermissionError } from '../../../platform/errors/gateway-errors.js';
import { DateRangeQueryDto, parseDateRange } from '../../../platform/http/date-range.js';
import { DAY_MS } from '../../../platform/time/dates.js';

const DEFAULT_DAYS = 30;
const MAX_DAYS = { day: 400, hour: 32 };

class GuardrailEventsQueryDto extends CursorPageQueryDto {
  @UuidField({ optional: true, description: 'Only events of this guardrail.' })
  guardrail_id?: string;

  @EnumField(['true', 'false'], {
    default: 'false',
    description:
      '`true` includes the matched text if the content log has it. Requires a management key and is audited.',
  })
  excerpts?: 'true' | 'false';
}

class GuardrailEventDto {
  @StringField({ example: '1042' })
  id!: string;

  @UuidField()
  guardrail_id!: string;

  @UuidField()
  request_id!: string;

  @EnumField(GUARDRAIL_ACTIONS, { example: 'block' })
  action!: GuardrailAction;

  @EnumField(GUARDRAIL_DIRECTIONS, { example: 'input' })
  direction!: GuardrailDirection;

  @StringField({
    nullable: true,
    description: 'Text around the match; null when not requested or not stored.',
    example: null,
  })
  excerpt!: string | null;

  @DateTimeField()
  created_at!: string;
}

class GuardrailEventListDto extends CursorPageDto {
  @ObjectListField(GuardrailEventDto, { description: 'Newest first.' })
  data!: GuardrailEventDto[];
}

class GuardrailSeriesQueryDto extends DateRangeQueryDto {
  @EnumField(['day', 'hour'], { default: 'day', description: 'In UTC.' })
  interval: 'day' | 'hour' = 'day';

  @UuidField({ optional: true, description: 'Only events of this guardrail.' })
  guardrail_id?: string;
}

class GuardrailCountDto {
  @DateTimeField({ description: 'Start of the day or hour.' })
  time!: string;

  @UuidField()
  guardrail_id!: string;

  @EnumField(GUARDRAIL_ACTIONS, { example: 'block' })
  action!: GuardrailAction;

  @EnumField(GUARDRAIL_DIRECTIONS, { example: 'input' })
  direction!: GuardrailDirection;

  @IntegerField({ example: 12 })
  count!: number;
}

class GuardrailSeriesDto {
  @ObjectListField(GuardrailCountDto, {
    description: 'By time, then by guardrail. Empty periods are left out.',
  })
  data!: GuardrailCountDto[];
}

@ApiTags('Customer')
@Customer()
@Members('read')
@Controller('v1/customer/guardrail-events')
export class GuardrailEventsController {
  constructor(
    private readonly events: GuardrailEvents,
    private readonly contentLog: ContentLog,
  ) {}

  @Get('series')
  @Header('cache-control', 'no-store')
  @ApiOperation({
    operationId: 'getGuardrailSeries',
    summary: 'Count guardrail events by day or hour',
    description: `Defaults to the last 30 days. At most ${MAX_DAYS.day} days by day, ${MAX_DAYS.hour} by hour.`,
  })
  @ApiOkResponse({ type: GuardrailSeriesDto })
  @ApiFilters()
  async series(
    @CurrentCaller() { tenantId }: Caller,
    @Query() query: GuardrailSeriesQueryDto,
  ): Promise<GuardrailSeriesDto> {
    const { interval, guardrail_id: guardrailId } = query;
    const { start, end } = parseDateRange(query.start_date, query.end_date);
    const to = end ?? new Date();
    const from = start ?? new Date(to.getTime() - DEFAULT_DAYS * DAY_MS);
    if (to.getTime() - from.getTime() > MAX_DAYS[interval] * DAY_MS) {
      throw new InvalidRequestError(
        'start_date',
        `The range by ${interval} must be at most ${MAX_DAYS[interval]} days.`,
      );
    }
    const counts = await this.events.series(tenantId, { interval, from, to, guardrailId });
    return {
      data: counts.map(({ time, guardrailId: id, action, direction, count }) => ({
        time: time.toISOString(),
        guardrail_id: id,
        action,
        direction,
        count,
      })),
    };
  }

  @Get()
  @Header('cache-control', 'no-store')
  @ApiOperation({
    operationId: 'listGuardrailEvents',
    summary: 'List guardrail events',
    description: 'Available shortly after the match, and kept as long as log rows.',
  })
  @ApiOkResponse({ type: GuardrailEventListDto })
  @ApiFilters()
  @ApiErrorResponse(403, 'Excerpts require a management key.')
  async list(
    @CurrentAuthor() author: Author,
    @CurrentCaller() caller: Caller,
    @Query() { limit, cursor, guardrail_id: guardrailId, excerpts }: GuardrailEventsQueryDto,
  ): Promise<GuardrailEventListDto> {
    const { tenantId } = caller;
    if (excerpts === 'true' && !mayReadContent(caller)) {
      throw new PermissionError('Excerpts require a management key (sk-mgmt-…).', 'excerpts');
    }
    const after = readCursor(cursor, ['time', 'integer']);
    const rows = await this.events.page(tenantId, limit + 1, after, guardrailId);
    const found =
      excerpts === 'true' && rows.length > 0
        ? await this.contentLog.excerpts(author, tenantId, [
            ...new Set(rows.map(({ requestId }) => requestId)),
          ])
        : undefined;
    const excerptOf = ({ requestId, guardrailId: id, direction }: GuardrailEvent): string | null =>
      found
        ?.get(requestId)
        ?.find((each) => each.guardrail_id === id && each.direction === direction)?.excerpt ?? null;
    return toCursorPage(
      rows,
      limit,
      ({ createdAt, id }) => [createdAt, id],
      (event): GuardrailEventDto => ({
        id: event.id,
        guardrail_id: event.guardrailId,
        request_id: event.requestId,
        action: event.action,
        direction: event.direction,
        excerpt: excerptOf(event),
        created_at: event.createdAt.toISOString(),
      }),
    );
  }
}
