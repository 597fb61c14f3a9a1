import {
  KeyExpiry,
  KeyRateLimit,
  KeySpendLimit,
} from '../../../core/access/key-fields.decorators.js';
import { API_KEY_TYPES, MAKERS, type ApiKeyType, type Maker } from '../../../core/access/caller.js';
import { CursorPageDto } from '../../../platform/http/cursor-page.js';
import {
  DateTimeField,
  EnumField,
  IntegerField,
  NameField,
  StringField,
  UuidField,
} from '../../../platform/http/field.decorators.js';
import { ObjectListField } from '../../../platform/http/nested-field.decorators.js';
import { API_KEY_STATUSES, type ApiKeyStatus } from '../../../core/access/api-key.entity.js';
import { DEFAULT_RATE_LIMIT_PER_MINUTE } from '../../../platform/config/setting-values.js';

/** A tenant's key for operators. Limits and expiry of its ancestor keys apply as well. */
export class TenantKeyDto {
  @UuidField()
  id!: string;

  @EnumField(API_KEY_TYPES, { example: 'routing' })
  type!: ApiKeyType;

  @StringField({ example: 'billing service' })
  name!: string;

  @StringField({ example: 'sk-4fR9...x2Qa' })
  key_preview!: string;

  @EnumField(API_KEY_STATUSES, { example: 'active' })
  status!: ApiKeyStatus;

  @EnumField(MAKERS, { description: 'The operator, or the type of the creating key.' })
  made_by!: Maker;

  @IntegerField({ example: 600 })
  rate_limit_per_minute!: number;

  @IntegerField({ nullable: true, example: null })
  monthly_spend_limit!: number | null;

  @IntegerField({ description: 'Requests made with the key.', example: 42 })
  request_count!: number;

  @IntegerField({ description: 'Credits charged to the key.', example: 12_500 })
  total_spend!: number;

  @DateTimeField({ nullable: true })
  expires_at!: string | null;

  @DateTimeField({ nullable: true })
  revoked_at!: string | null;

  @DateTimeField({ nullable: true })
  last_used_at!: string | null;

  @DateTimeField()
  created_at!: string;
}

/** The response to a creation, the only one with the key itself. */
export class CreatedTenantKeyDto extends TenantKeyDto {
  @StringField({
    description: 'The key in plaintext. Shown only once and not stored.',
    example: 'sk-4fR9…x2Qa',
  })
  key!: string;
}

export class TenantKeyListDto extends CursorPageDto {
  @ObjectListField(TenantKeyDto, { description: 'Newest first, including revoked keys.' })
  data!: TenantKeyDto[];
}

/** Fields that can be set at creation and later. */
abstract class TenantKeyFieldsDto {
  @KeyExpiry('When the key expires, in the future; null: never.')
  expires_at?: string | null;

  @KeyRateLimit(`Requests per minute. Defaults to ${DEFAULT_RATE_LIMIT_PER_MINUTE}.`)
  rate_limit_per_minute?: number;

  @KeySpendLimit(
    'Credits per calendar month (UTC); null: unlimited. A limit set later ' +
      'counts spend from then on.',
  )
  monthly_spend_limit?: number | null;
}

export class CreateTenantKeyDto extends TenantKeyFieldsDto {
  @NameField({ example: 'billing service' })
  name!: string;

  @EnumField(API_KEY_TYPES, { default: 'routing' })
  type?: ApiKeyType;
}

/** Omitted fields keep their values. */
export class UpdateTenantKeyDto extends TenantKeyFieldsDto {
  @NameField({ optional: true, example: 'billing service' })
  name?: string;
}
