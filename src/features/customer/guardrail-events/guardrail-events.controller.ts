import { Controller, Get, Header, Query } from '@nestjs/common';
import {
  ApiOkResponse,
  ApiOperation,
  ApiProperty,
  ApiPropertyOptional,
  ApiTags,
} from '@nestjs/swagger';
import { IsIn, IsOptional, IsUUID } from 'class-validator';
import { CurrentAuthor, type Author } from '../../../core/access/author.js';
import { type Caller } from '../../../core/access/caller.js';
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
import { Members } from '../../../core/people/roles.js';
import { ApiErrorResponse } from '../../../platform/errors/error-response.js';
import { InvalidRequestError, PermissionError } from '../../../platform/errors/gateway-errors.js';
import {
  CursorPageDto,
  CursorPageQueryDto,
  readCursor,
  toCursorPage,
} from '../../../platform/http/cursor-page.js';
import { DateRangeQueryDto, parseDateRange } from '../../../platform/http/date-range.js';
import { DAY_MS } from '../../../platform/time/dates.js';

const DEFAULT_DAYS = 30;
const MAX_DAYS = { day: 400, hour: 32 };

class GuardrailEventsQueryDto extends CursorPageQueryDto {
  @ApiPropertyOptional({ format: 'uuid', description: 'Of this guardrail alone.' })
  @IsOptional()
  @IsUUID('all', { message: 'guardrail_id must be one UUID' })
  guardrail_id?: string;

  @ApiPropertyOptional({
    enum: ['true', 'false'],
    default: 'false',
    description:
      '`true` shows what was found, where the content log has it. Needs a management key, and is an entry of the audit log.',
  })
  @IsOptional()
  @IsIn(['true', 'false'], { message: 'excerpts must be true or false' })
  excerpts?: 'true' | 'false';
}

class GuardrailEventDto {
  @ApiProperty({ example: '1042' })
  id!: string;

  @ApiProperty({ format: 'uuid' })
  guardrail_id!: string;

  @ApiProperty({ format: 'uuid' })
  request_id!: string;

  @ApiProperty({ enum: GUARDRAIL_ACTIONS, example: 'block' })
  action!: GuardrailAction;

  @ApiProperty({ enum: GUARDRAIL_DIRECTIONS, example: 'input' })
  direction!: GuardrailDirection;

  @ApiProperty({
    type: String,
    nullable: true,
    description: 'The text around what was found; null: it was not asked for, or is not kept.',
    example: null,
  })
  excerpt!: string | null;

  @ApiProperty({ format: 'date-time' })
  created_at!: string;
}

class GuardrailEventListDto extends CursorPageDto {
  @ApiProperty({ type: [GuardrailEventDto], description: 'Newest first.' })
  data!: GuardrailEventDto[];
}

class GuardrailSeriesQueryDto extends DateRangeQueryDto {
  @ApiPropertyOptional({ enum: ['day', 'hour'], default: 'day', description: 'In UTC.' })
  @IsOptional()
  @IsIn(['day', 'hour'], { message: 'interval must be day or hour' })
  interval: 'day' | 'hour' = 'day';

  @ApiPropertyOptional({ format: 'uuid', description: 'Of this guardrail alone.' })
  @IsOptional()
  @IsUUID('all', { message: 'guardrail_id must be one UUID' })
  guardrail_id?: string;
}

class GuardrailCountDto {
  @ApiProperty({ format: 'date-time', description: 'The beginning of the day or hour.' })
  time!: string;

  @ApiProperty({ format: 'uuid' })
  guardrail_id!: string;

  @ApiProperty({ enum: GUARDRAIL_ACTIONS, example: 'block' })
  action!: GuardrailAction;

  @ApiProperty({ enum: GUARDRAIL_DIRECTIONS, example: 'input' })
  direction!: GuardrailDirection;

  @ApiProperty({ type: 'integer', example: 12 })
  count!: number;
}

class GuardrailSeriesDto {
  @ApiProperty({
    type: [GuardrailCountDto],
    description: 'By time, then by guardrail; days and hours without any are left out.',
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
    summary: 'How often guardrails have found something, by day or hour',
    description: `The last 30 days where no dates are given; ${MAX_DAYS.day} days at most, ${MAX_DAYS.hour} by hour.`,
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
        `By ${interval}, at most ${MAX_DAYS[interval]} days can be asked for at once.`,
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
    summary: 'What guardrails have found',
    description: 'A moment after it was found; kept for as long as log rows are.',
  })
  @ApiOkResponse({ type: GuardrailEventListDto })
  @ApiFilters()
  @ApiErrorResponse(403, 'Excerpts need a management key.')
  async list(
    @CurrentAuthor() author: Author,
    @CurrentCaller() caller: Caller,
    @Query() { limit, cursor, guardrail_id: guardrailId, excerpts }: GuardrailEventsQueryDto,
  ): Promise<GuardrailEventListDto> {
    const { tenantId } = caller;
    if (excerpts === 'true' && !mayReadContent(caller)) {
      throw new PermissionError('Excerpts need a management key (sk-mgmt-…).', 'excerpts');
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
