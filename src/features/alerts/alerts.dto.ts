import { applyDecorators } from '@nestjs/common';
import {
  ApiProperty,
  ApiPropertyOptional,
  ApiSchema,
  type ApiPropertyOptions,
} from '@nestjs/swagger';
import { IsBoolean, IsIn, IsObject, IsOptional, IsString, IsUUID } from 'class-validator';
import {
  ALERT_FORMATS,
  ALERT_KINDS,
  ALERT_STATUSES,
  type AlertFormat,
  type AlertKind,
  type AlertStatus,
} from '../../core/alerts/alert.js';
import { ScopeDto } from '../../core/access/scope.js';
import { CursorPageDto, CursorPageQueryDto } from '../../platform/http/cursor-page.js';
import { IsName, MayBeAbsent } from '../../platform/http/field.decorators.js';
import { DeletedDto } from '../../platform/http/deleted.dto.js';

const NAME_PROPERTY = { minLength: 1, maxLength: 255, example: 'Credits run out' };

const KIND_PROPERTY = {
  enum: ALERT_KINDS,
  example: 'balance_below',
  description: 'Kind of the condition; docs/alerts.md describes each.',
} satisfies ApiPropertyOptions;

const CONDITION_PROPERTY = {
  type: 'object',
  additionalProperties: true,
  description:
    '`balance_below`: `credits`. `budget`: `thresholds` (percent; default 50, 80 and 100), `scope`, `scope_id`. ' +
    '`error_rate`: `percent`, `window_minutes` (default 10), `min_requests` (default 20), `provider`. ' +
    '`spend_unusual`: `floor_credits`, `factor` (default 3). `vendor_unhealthy` and `route_paused` (operators ' +
    'only): `provider`. `prices_stale` and `prices_differ` (operators only): none. ' +
    'In operator alerts about tenants, `tenant_id` selects one; without it they cover all.',
  example: { credits: 5_000_000 },
} satisfies ApiPropertyOptions;

const FORMAT_PROPERTY = {
  enum: ALERT_FORMATS,
  description:
    '`webhook`: JSON, signed like other webhooks. `slack`: `{text, blocks}`, for Slack, Mattermost, and Discord ' +
    'URLs that end in `/slack`.',
} satisfies ApiPropertyOptions;

const URL_PROPERTY = {
  type: String,
  maxLength: 2_048,
  description: 'An http or https URL with a public address. Stored encrypted and never returned.',
  example: 'https://hooks.example.com/alerts',
} satisfies ApiPropertyOptions;

const TIME = { type: String, format: 'date-time' } as const;

/** A rule as its owner sees it. */
@ApiSchema({ name: 'Alert' })
export class AlertDto {
  @ApiProperty({ format: 'uuid' })
  id!: string;

  @ApiProperty({ example: NAME_PROPERTY.example })
  name!: string;

  @ApiProperty()
  enabled!: boolean;

  @ApiProperty(KIND_PROPERTY)
  kind!: AlertKind;

  @ApiProperty(CONDITION_PROPERTY)
  condition!: Record<string, unknown>;

  @ApiProperty(FORMAT_PROPERTY)
  format!: AlertFormat;

  @ApiProperty({
    description: 'Shortened URL.',
    example: 'https://hooks.example.com/…',
  })
  url_preview!: string;

  @ApiProperty({ type: ScopeDto })
  scope!: ScopeDto;

  @ApiProperty({ description: 'Whether the condition is met now. Always false for budgets.' })
  firing!: boolean;

  @ApiProperty(TIME)
  created_at!: string;

  @ApiProperty(TIME)
  updated_at!: string;
}

/** A suggested rule that does not exist yet and needs a URL. */
@ApiSchema({ name: 'AlertPreset' })
export class AlertPresetDto {
  @ApiProperty({ example: NAME_PROPERTY.example })
  name!: string;

  @ApiProperty(KIND_PROPERTY)
  kind!: AlertKind;

  @ApiProperty(CONDITION_PROPERTY)
  condition!: Record<string, unknown>;
}

export class AlertListDto {
  @ApiProperty({ type: [AlertDto], description: 'Newest first.' })
  data!: AlertDto[];

  @ApiProperty({
    type: [AlertPresetDto],
    description: 'Suggested alerts, to be created with a `url`. None exists by default.',
  })
  presets!: AlertPresetDto[];
}

export class DeletedAlertDto extends DeletedDto {}

/** Outcome of a test message. */
export class AlertTestDto {
  @ApiProperty({ description: 'Whether the receiver answered with a 2xx status.' })
  delivered!: boolean;

  @ApiProperty({
    type: 'integer',
    nullable: true,
    description: 'Status of the response; null when there was none.',
  })
  status!: number | null;

  @ApiProperty({ type: String, nullable: true, example: 'answered with status 404' })
  error!: string | null;

  @ApiProperty({ type: 'integer' })
  duration_ms!: number;
}

class AlertDeliveryDto {
  @ApiProperty({ enum: ['pending', 'delivered', 'dropped'] })
  state!: 'pending' | 'delivered' | 'dropped';

  @ApiProperty({ type: 'integer' })
  attempts!: number;

  @ApiProperty({ type: String, nullable: true, example: 'answered with status 500' })
  error!: string | null;

  @ApiProperty({ ...TIME, nullable: true, description: 'When it was delivered or given up.' })
  finished_at!: string | null;
}

/** A notification of a rule and its delivery. */
@ApiSchema({ name: 'AlertEvent' })
export class AlertEventDto {
  @ApiProperty({ format: 'uuid', description: 'Also the `Idempotency-Key` of its delivery.' })
  id!: string;

  @ApiProperty({ format: 'uuid', description: 'The alert, which may have been deleted.' })
  alert_id!: string;

  @ApiProperty({ example: NAME_PROPERTY.example, description: 'Name of the alert at the time.' })
  name!: string;

  @ApiProperty(KIND_PROPERTY)
  kind!: AlertKind;

  @ApiProperty({ enum: ALERT_STATUSES })
  status!: AlertStatus;

  @ApiProperty({ description: 'Subject: the id of a tenant, key or provider.' })
  subject!: string;

  @ApiProperty({ example: '5000000' })
  threshold!: string;

  @ApiProperty({
    example: '2026-01-31T12',
    description:
      'Period with at most one notification: the hour of a state, or the period of a budget (UTC).',
  })
  period!: string;

  @ApiProperty({ example: 'The balance is 4,200,000 credits, less than 5,000,000.' })
  message!: string;

  @ApiProperty({
    type: 'object',
    additionalProperties: true,
    description: 'The figures of the message.',
    example: { balance: 4_200_000, credits: 5_000_000 },
  })
  detail!: Record<string, unknown>;

  @ApiProperty({ type: AlertDeliveryDto })
  delivery!: AlertDeliveryDto;

  @ApiProperty(TIME)
  created_at!: string;
}

export class AlertEventPageDto extends CursorPageDto {
  @ApiProperty({ type: [AlertEventDto], description: 'Newest first.' })
  data!: AlertEventDto[];
}

export class AlertEventQueryDto extends CursorPageQueryDto {
  @ApiPropertyOptional({ format: 'uuid', description: 'Only of this alert.' })
  @IsOptional()
  @IsUUID('all', { message: 'alert_id must be the id of an alert' })
  alert_id?: string;
}

export class CreateAlertDto {
  @ApiProperty(NAME_PROPERTY)
  @IsName()
  name!: string;

  @ApiProperty(KIND_PROPERTY)
  @IsIn(ALERT_KINDS, { message: `kind must be one of ${ALERT_KINDS.join(', ')}` })
  kind!: AlertKind;

  @IsConditionObject()
  condition?: Record<string, unknown>;

  @IsFormat()
  format?: AlertFormat;

  @ApiProperty(URL_PROPERTY)
  @IsString({ message: 'url must be a string' })
  url!: string;

  @IsEnabledFlag()
  enabled?: boolean;
}

/**
 * Omitted fields keep their values; `condition` is replaced as a whole. The kind cannot be
 * changed.
 */
export class UpdateAlertDto {
  @ApiPropertyOptional(NAME_PROPERTY)
  @MayBeAbsent()
  @IsName()
  name?: string;

  @IsConditionObject()
  condition?: Record<string, unknown>;

  @IsFormat()
  format?: AlertFormat;

  @ApiPropertyOptional(URL_PROPERTY)
  @MayBeAbsent()
  @IsString({ message: 'url must be a string' })
  url?: string;

  @IsEnabledFlag()
  enabled?: boolean;
}

/** Checks only the object. `readAlertCondition` validates its content. */
function IsConditionObject(): PropertyDecorator {
  return applyDecorators(
    ApiPropertyOptional(CONDITION_PROPERTY),
    MayBeAbsent(),
    IsObject({ message: 'condition must be an object' }),
  );
}

function IsFormat(): PropertyDecorator {
  return applyDecorators(
    ApiPropertyOptional({ ...FORMAT_PROPERTY, default: 'webhook' }),
    MayBeAbsent(),
    IsIn(ALERT_FORMATS, { message: `format must be ${ALERT_FORMATS.join(' or ')}` }),
  );
}

function IsEnabledFlag(): PropertyDecorator {
  return applyDecorators(
    ApiPropertyOptional({ default: true }),
    MayBeAbsent(),
    IsBoolean({ message: 'enabled must be true or false' }),
  );
}
