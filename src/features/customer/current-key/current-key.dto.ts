import {
  BooleanField,
  DateTimeField,
  EnumField,
  IntegerField,
  StringField,
} from '../../../platform/http/field.decorators.js';
import { ObjectField, StringListField } from '../../../platform/http/nested-field.decorators.js';

class KeyRateLimitDto {
  @IntegerField({ example: 600 })
  requests!: number;

  @StringField({ example: '1m' })
  interval!: string;

  @StringField()
  note!: string;
}

class FreeRequestsDto {
  @IntegerField({ example: 0 })
  limit!: number;

  @IntegerField({ example: 0 })
  used!: number;

  @IntegerField({ example: 0 })
  remaining!: number;
}

const NOT_COUNTED = {
  description: '0: vendor charges to BYOK accounts are unknown.',
  example: 0,
} as const;

/** The calling key in the compatibility API's shape. Amounts are credits. */
export class CurrentKeyRecordDto {
  @StringField({ description: "The key's name.", example: 'billing service' })
  label!: string;

  @IntegerField({ description: 'Total credits charged.', example: 12_500 })
  usage!: number;

  @IntegerField({
    nullable: true,
    description:
      'The tightest of its monthly limit and budgets and those of its ancestor keys, until `limit_reset`; null: none.',
    example: null,
  })
  limit!: number | null;

  @IntegerField({
    nullable: true,
    description: 'Remainder of `limit`, less reservations of running requests.',
    example: null,
  })
  limit_remaining!: number | null;

  @BooleanField({ example: false })
  is_free_tier!: boolean;

  @ObjectField(KeyRateLimitDto)
  rate_limit!: KeyRateLimitDto;

  @IntegerField({ description: 'Credits charged today (UTC).', example: 0 })
  usage_daily!: number;

  @IntegerField({ description: 'Credits charged since Monday.', example: 0 })
  usage_weekly!: number;

  @IntegerField({ description: 'Credits charged this month.', example: 0 })
  usage_monthly!: number;

  @EnumField(['hourly', 'daily', 'weekly', 'monthly'], {
    nullable: true,
    description: 'Period after which `limit` resets; null: never, or no limit.',
  })
  limit_reset!: 'hourly' | 'daily' | 'weekly' | 'monthly' | null;

  @DateTimeField({ nullable: true, example: null })
  expires_at!: string | null;

  @BooleanField({ example: false })
  is_management_key!: boolean;

  @BooleanField({ description: 'Same as `is_management_key`.', example: false })
  is_provisioning_key!: boolean;

  @BooleanField({
    description: 'False: vendor charges to BYOK accounts do not count, but the fee does.',
    example: false,
  })
  include_byok_in_limit!: boolean;

  @IntegerField(NOT_COUNTED)
  byok_usage!: number;

  @IntegerField(NOT_COUNTED)
  byok_usage_daily!: number;

  @IntegerField(NOT_COUNTED)
  byok_usage_weekly!: number;

  @IntegerField(NOT_COUNTED)
  byok_usage_monthly!: number;

  @ObjectField(FreeRequestsDto, { description: 'Empty: there are no free models.' })
  free_model_daily_requests!: FreeRequestsDto;

  @StringListField({ description: 'Empty: there are no regions.', example: [] })
  allowed_data_regions!: string[];

  @StringField({ nullable: true, example: null })
  creator_user_id!: null;

  @StringField({ nullable: true, example: null })
  organization_id!: null;

  @StringField({ nullable: true, example: null })
  workspace_id!: null;
}

export class CurrentKeyDto {
  @ObjectField(CurrentKeyRecordDto)
  data!: CurrentKeyRecordDto;
}
