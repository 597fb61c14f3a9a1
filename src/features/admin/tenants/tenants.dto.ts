import { API_KEY_TYPES, type ApiKeyType } from '../../../core/access/caller.js';
import { CursorPageDto, CursorPageQueryDto } from '../../../platform/http/cursor-page.js';
import {
  DateTimeField,
  EnumField,
  IntegerField,
  NameField,
  StringField,
  UuidField,
} from '../../../platform/http/field.decorators.js';
import { EnumListField, ObjectListField } from '../../../platform/http/nested-field.decorators.js';
import {
  TENANT_SORTS,
  TENANT_STATUSES,
  type TenantSort,
  type TenantStatus,
} from '../../../core/tenants/tenants.service.js';
import { MAX_GRANT_CREDITS } from '../../../platform/config/setting-values.js';
import { CreatedTenantKeyDto } from './tenant-keys.dto.js';
import { MemoField } from './tenant-entries.dto.js';

const SETTABLE_STATUSES = ['active', 'suspended'] as const;
const ORDERS = ['asc', 'desc'] as const;
const MAX_FIRST_KEYS = 10;

/** Amounts are credits: 1 credit = 0.000001 USD. */
export class TenantDto {
  @UuidField()
  id!: string;

  @StringField({ example: 'acme', description: 'For a deleted tenant, `deleted` and its id.' })
  name!: string;

  @EnumField(TENANT_STATUSES, { example: 'active' })
  status!: TenantStatus;

  @IntegerField({ description: 'Granted and not yet spent.', example: 8_750_000 })
  balance!: number;

  @IntegerField({ description: 'Reserved for open requests.', example: 50_000 })
  held!: number;

  @IntegerField({ description: '`balance` less `held`.', example: 8_700_000 })
  available!: number;

  @IntegerField({ description: 'Total credits spent.', example: 1_250_000 })
  spent!: number;

  @IntegerField({ description: 'Spend in this calendar month (UTC).', example: 320_000 })
  spent_this_month!: number;

  @IntegerField({ description: 'Total log rows.', example: 10_400 })
  request_count!: number;

  @IntegerField({ description: 'Keys that are not revoked.', example: 3 })
  key_count!: number;

  @IntegerField({
    nullable: true,
    description: 'Credits per calendar month (UTC); null: no limit.',
    example: null,
  })
  monthly_spend_limit!: number | null;

  @DateTimeField({ nullable: true })
  suspended_at!: string | null;

  @DateTimeField({ nullable: true })
  deleted_at!: string | null;

  @DateTimeField({
    nullable: true,
    description: 'When the last personal data of a deleted tenant was removed.',
  })
  erased_at!: string | null;

  @DateTimeField()
  created_at!: string;
}

export class TenantListDto extends CursorPageDto {
  @ObjectListField(TenantDto)
  data!: TenantDto[];
}

export class TenantQueryDto extends CursorPageQueryDto {
  @StringField({
    optional: true,
    description: 'Case-insensitive part of the name.',
    example: 'acm',
    message: 'must be a single string',
  })
  search?: string;

  @EnumField(TENANT_STATUSES, {
    optional: true,
    description: 'Defaults to all but deleted tenants.',
  })
  status?: TenantStatus;

  @EnumField(TENANT_SORTS, { default: 'created_at' })
  sort: TenantSort = 'created_at';

  @EnumField(ORDERS, { default: 'desc' })
  order: (typeof ORDERS)[number] = 'desc';
}

/** Monthly limit, shared by the bodies that set it. */
abstract class TenantLimitDto {
  @IntegerField({
    optional: true,
    nullable: true,
    minimum: 0,
    maximum: Number.MAX_SAFE_INTEGER,
    description: 'Credits per calendar month (UTC) for all keys together; null: no limit.',
    example: 5_000_000,
  })
  monthly_spend_limit?: number | null;
}

export class CreateTenantDto extends TenantLimitDto {
  @NameField({ example: 'acme', description: 'Must be unique.' })
  name!: string;

  @IntegerField({
    minimum: 0,
    maximum: MAX_GRANT_CREDITS,
    default: 0,
    description: 'Initial grant.',
    example: 10_000_000,
  })
  credits?: number;

  @MemoField()
  memo?: string | null;

  @EnumListField(API_KEY_TYPES, {
    optional: true,
    maxItems: MAX_FIRST_KEYS,
    description: 'Types of keys to create. Only this response contains the keys.',
    example: ['routing', 'management'],
  })
  keys?: ApiKeyType[];
}

export class CreatedTenantDto extends TenantDto {
  @ObjectListField(CreatedTenantKeyDto, { description: 'Shown only once.' })
  keys!: CreatedTenantKeyDto[];
}

/** Omitted fields keep their values. */
export class UpdateTenantDto extends TenantLimitDto {
  @NameField({ optional: true, example: 'acme' })
  name?: string;

  @EnumField(SETTABLE_STATUSES, {
    optional: true,
    description:
      '`suspended`: its keys are read-only within a second. `active`: they work as before.',
    example: 'suspended',
  })
  status?: (typeof SETTABLE_STATUSES)[number];
}
