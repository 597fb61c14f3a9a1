import { Controller, Get, Query } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiProperty, ApiTags } from '@nestjs/swagger';
import type { Caller } from '../../../core/access/caller.js';
import { ApiFilters, Customer } from '../../../core/access/customer.decorator.js';
import { ScopeDto, toScope } from '../../../core/access/scope.js';
import { CurrentCaller } from '../../../core/access/gateway-request.js';
import { previewUrl } from '../../../core/alerts/alert.js';
import { Members } from '../../../core/access/roles.js';
import { fromStoredText } from '../../../platform/database/stored-text.js';
import {
  CursorPageDto,
  CursorPageQueryDto,
  readCursor,
  toCursorPage,
} from '../../../platform/http/cursor-page.js';
import {
  WebhookDeliveryRepository,
  type ListedWebhook,
} from '../../../platform/outbound/webhook-delivery.repository.js';

const STATES = ['pending', 'delivered', 'dropped'] as const;

/** A webhook and its delivery state. */
class WebhookDeliveryDto {
  @ApiProperty({ format: 'uuid' })
  id!: string;

  @ApiProperty({
    description: '`Idempotency-Key` of the delivery: the job and its final state.',
    example: '7b0c2a52-3f0a-4b39-9d0f-0f9d2b6f1a01:completed',
  })
  event_id!: string;

  @ApiProperty({
    description: 'Origin and, for long URLs, the last characters.',
    example: 'https://hooks.example.com/…a1b2',
  })
  url_preview!: string;

  @ApiProperty({ type: ScopeDto })
  scope!: ScopeDto;

  @ApiProperty({ enum: STATES, description: '`pending`: will be retried.', example: 'delivered' })
  state!: (typeof STATES)[number];

  @ApiProperty({ type: 'integer', example: 1 })
  attempts!: number;

  @ApiProperty({ type: String, nullable: true, example: 'answered with status 500' })
  last_error!: string | null;

  @ApiProperty({ type: String, format: 'date-time' })
  created_at!: string;

  @ApiProperty({
    type: String,
    format: 'date-time',
    nullable: true,
    description: 'Null while it is pending.',
  })
  finished_at!: string | null;
}

class WebhookDeliveryListDto extends CursorPageDto {
  @ApiProperty({ type: [WebhookDeliveryDto], description: 'Newest first.' })
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
