import { Controller, Get, Query } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
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
import { ObjectField, ObjectListField } from '../../../platform/http/nested-field.decorators.js';
import type { Caller } from '../../../core/access/caller.js';
import { ApiFilters, Customer } from '../../../core/access/customer.decorator.js';
import { ScopeDto, toScope } from '../../../core/access/scope.js';
import { CurrentCaller } from '../../../core/access/gateway-request.js';
import { previewUrl } from '../../../core/alerts/alert.js';
import { Members } from '../../../core/access/roles.js';
import { fromStoredText } from '../../../platform/database/stored-text.js';
import {
  WebhookDeliveryRepository,
  type ListedWebhook,
} from '../../../platform/outbound/webhook-delivery.repository.js';

const STATES = ['pending', 'delivered', 'dropped'] as const;

/** A webhook and its delivery state. */
class WebhookDeliveryDto {
  @UuidField()
  id!: string;

  @StringField({
    description: '`Idempotency-Key` of the delivery: the job and its final state.',
    example: '7b0c2a52-3f0a-4b39-9d0f-0f9d2b6f1a01:completed',
  })
  event_id!: string;

  @StringField({
    description: 'Origin and, for long URLs, the last characters.',
    example: 'https://hooks.example.com/…a1b2',
  })
  url_preview!: string;

  @ObjectField(ScopeDto)
  scope!: ScopeDto;

  @EnumField(STATES, { description: '`pending`: will be retried.', example: 'delivered' })
  state!: (typeof STATES)[number];

  @IntegerField({ example: 1 })
  attempts!: number;

  @StringField({ nullable: true, example: 'answered with status 500' })
  last_error!: string | null;

  @DateTimeField()
  created_at!: string;

  @DateTimeField({ nullable: true, description: 'Null while it is pending.' })
  finished_at!: string | null;
}

class WebhookDeliveryListDto extends CursorPageDto {
  @ObjectListField(WebhookDeliveryDto, { description: 'Newest first.' })
  data!: WebhookDeliveryDto[];
}

@ApiTags('Customer')
@Customer()
@Members('read')
@Controller('v1/customer/webhook-deliveries')
export class WebhookDeliveriesController {
  constructor(private readonly rows: WebhookDeliveryRepository) {}

  @Get()
  @ApiOperation({
    operationId: 'listWebhookDeliveries',
    summary: "List the tenant's webhooks of jobs, the newest first",
    description: 'Pending deliveries, and those delivered or given up in the last 7 days.',
  })
  @ApiOkResponse({ type: WebhookDeliveryListDto })
  @ApiFilters()
  async list(
    @CurrentCaller() { tenantId }: Caller,
    @Query() { limit, cursor }: CursorPageQueryDto,
  ): Promise<WebhookDeliveryListDto> {
    const behind = readCursor(cursor, ['time', 'uuid']);
    const rows = await this.rows.newestOf(tenantId, limit + 1, behind);
    return toCursorPage(rows, limit, ({ place, id }) => [place, id], toDelivery);
  }
}

function toDelivery(row: ListedWebhook): WebhookDeliveryDto {
  return {
    id: row.id,
    event_id: row.eventId,
    url_preview: previewUrl(fromStoredText(row.url)),
    scope: toScope(row.scopeKeyId),
    state: row.state,
    attempts: row.attempts,
    last_error: row.lastError,
    created_at: row.createdAt.toISOString(),
    finished_at: row.finishedAt?.toISOString() ?? null,
  };
}
