import { ApiSchema } from '@nestjs/swagger';
import { CursorPageDto, CursorPageQueryDto } from '../../platform/http/cursor-page.js';
import {
  BooleanField,
  DateTimeField,
  EnumField,
  NameField,
  IntegerField,
  MapField,
  StringField,
  UuidField,
} from '../../platform/http/field.decorators.js';
import { ObjectField, ObjectListField } from '../../platform/http/nested-field.decorators.js';
import {
  ALERT_FORMATS,
  ALERT_KINDS,
  ALERT_STATUSES,
  type AlertFormat,
  type AlertKind,
  type AlertStatus,
} from '../../core/alerts/alert.js';
import { ScopeDto } from '../../core/access/scope.js';
import { DeletedDto } from '../../platform/http/deleted.dto.js';
import { ConditionField } from './alert-conditions.dto.js';

const NAME_EXAMPLE = 'Credits run out';

const KIND = {
  example: 'balance_below',
  description: 'Kind of the condition; docs/alerts.md describes each.',
} as const;

const FORMAT = {
  description:
    '`webhook`: JSON, signed like other webhooks. `slack`: `{text, blocks}`, for Slack, Mattermost, and ' +
    'Discord URLs that end in `/slack`.',
} as const;

const URL_OPTIONS = {
  maxLength: 2_048,
  description:
    'http or https. Must resolve to public addresses. Stored encrypted and never shown again.',
  example: 'https://hooks.example.com/alerts',
} as const;

/** A rule as its owner sees it. */
@ApiSchema({ name: 'Alert' })
export class AlertDto {
  @UuidField()
  id!: string;

  @StringField({ example: NAME_EXAMPLE })
  name!: string;

  @BooleanField()
  enabled!: boolean;

  @EnumField(ALERT_KINDS, KIND)
  kind!: AlertKind;

  @ConditionField()
  condition!: Record<string, unknown>;

  @EnumField(ALERT_FORMATS, FORMAT)
  format!: AlertFormat;

  @StringField({ description: 'Shortened URL.', example: 'https://hooks.example.com/…' })
  url_preview!: string;

  @ObjectField(ScopeDto)
  scope!: ScopeDto;

  @BooleanField({ description: 'Whether the condition is met now. Always false for budgets.' })
  firing!: boolean;

  @DateTimeField()
  created_at!: string;

  @DateTimeField()
  updated_at!: string;
}

/** A suggested rule that does not exist yet and needs a URL. */
@ApiSchema({ name: 'AlertPreset' })
export class AlertPresetDto {
  @StringField({ example: NAME_EXAMPLE })
  name!: string;

  @EnumField(ALERT_KINDS, KIND)
  kind!: AlertKind;

  @ConditionField()
  condition!: Record<string, unknown>;
}

export class AlertListDto {
  @ObjectListField(AlertDto, { description: 'Newest first.' })
  data!: AlertDto[];

  @ObjectListField(AlertPresetDto, {
    description: 'Suggested alerts, to be created with a `url`. None exists by default.',
  })
  presets!: AlertPresetDto[];
}

export class DeletedAlertDto extends DeletedDto {}

/** Outcome of a test message. */
export class AlertTestDto {
  @BooleanField({ description: 'Whether the receiver answered with a 2xx status.' })
  delivered!: boolean;

  @IntegerField({
    nullable: true,
    description: 'Status of the response; null when there was none.',
  })
  status!: number | null;

  @StringField({ nullable: true, example: 'answered with status 404' })
  error!: string | null;

  @IntegerField()
  duration_ms!: number;
}

class AlertDeliveryDto {
  @EnumField(['pending', 'delivered', 'dropped'])
  state!: 'pending' | 'delivered' | 'dropped';

  @IntegerField()
  attempts!: number;

  @StringField({ nullable: true, example: 'answered with status 500' })
  error!: string | null;

  @DateTimeField({ nullable: true, description: 'When it was delivered or given up.' })
  finished_at!: string | null;
}

/** A notification of a rule and its delivery. */
@ApiSchema({ name: 'AlertEvent' })
export class AlertEventDto {
  @UuidField({ description: 'Also the `Idempotency-Key` of its delivery.' })
  id!: string;

  @UuidField({ description: 'The alert, which may have been deleted.' })
  alert_id!: string;

  @StringField({ example: NAME_EXAMPLE, description: 'Name of the alert at the time.' })
  name!: string;

  @EnumField(ALERT_KINDS, KIND)
  kind!: AlertKind;

  @EnumField(ALERT_STATUSES)
  status!: AlertStatus;

  @StringField({ description: 'Subject: the id of a tenant, key or provider.' })
  subject!: string;

  @StringField({ example: '5000000' })
  threshold!: string;

  @StringField({
    example: '2026-01-31T12',
    description:
      'Period with at most one notification: the hour of a state, or the period of a budget (UTC).',
  })
  period!: string;

  @StringField({ example: 'The balance is 4,200,000 credits, less than 5,000,000.' })
  message!: string;

  @MapField(true, {
    description: 'The figures of the message.',
    example: { balance: 4_200_000, credits: 5_000_000 },
  })
  detail!: Record<string, unknown>;

  @ObjectField(AlertDeliveryDto)
  delivery!: AlertDeliveryDto;

  @DateTimeField()
  created_at!: string;
}

export class AlertEventPageDto extends CursorPageDto {
  @ObjectListField(AlertEventDto, { description: 'Newest first.' })
  data!: AlertEventDto[];
}

export class AlertEventQueryDto extends CursorPageQueryDto {
  @UuidField({ optional: true, description: 'Only of this alert.' })
  alert_id?: string;
}

export class CreateAlertDto {
  @NameField({ example: NAME_EXAMPLE })
  name!: string;

  @EnumField(ALERT_KINDS, KIND)
  kind!: AlertKind;

  @ConditionField({ optional: true })
  condition?: Record<string, unknown>;

  @EnumField(ALERT_FORMATS, { ...FORMAT, default: 'webhook' })
  format?: AlertFormat;

  @StringField(URL_OPTIONS)
  url!: string;

  @BooleanField({ default: true })
  enabled?: boolean;
}

/**
 * Omitted fields keep their values; `condition` is replaced as a whole. The kind cannot be
 * changed.
 */
export class UpdateAlertDto {
  @NameField({ optional: true, example: NAME_EXAMPLE })
  name?: string;

  @ConditionField({ optional: true })
  condition?: Record<string, unknown>;

  @EnumField(ALERT_FORMATS, { ...FORMAT, default: 'webhook' })
  format?: AlertFormat;

  @StringField({ ...URL_OPTIONS, optional: true })
  url?: string;

  @BooleanField({ default: true })
  enabled?: boolean;
}
