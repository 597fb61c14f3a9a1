import { ApiProperty } from '@nestjs/swagger';

class KeyRateLimitDto {
  @ApiProperty({ type: 'integer', example: 600 })
  requests!: number;

  @ApiProperty({ example: '1m' })
  interval!: string;

  @ApiProperty()
  note!: string;
}

class FreeRequestsDto {
  @ApiProperty({ type: 'integer', example: 0 })
  limit!: number;

  @ApiProperty({ type: 'integer', example: 0 })
  used!: number;

  @ApiProperty({ type: 'integer', example: 0 })
  remaining!: number;
}

const NOT_COUNTED = {
  type: 'integer',
  description: '0: vendor charges to BYOK accounts are unknown.',
  example: 0,
} as const;

/** The calling key in the compatibility API's shape. Amounts are credits. */
export class CurrentKeyRecordDto {
  @ApiProperty({ description: "The key's name.", example: 'billing service' })
  label!: string;

  @ApiProperty({ type: 'integer', description: 'Total credits charged.', example: 12_500 })
  usage!: number;

  @ApiProperty({
    type: 'integer',
    nullable: true,
    description:
      'The tightest of its monthly limit and budgets and those of its ancestor keys, until `limit_reset`; null: none.',
    example: null,
  })
  limit!: number | null;

  @ApiProperty({
    type: 'integer',
    nullable: true,
    description: 'Remainder of `limit`, less reservations of running requests.',
    example: null,
  })
  limit_remaining!: number | null;

  @ApiProperty({ example: false })
  is_free_tier!: boolean;

  @ApiProperty({ type: KeyRateLimitDto })
  rate_limit!: KeyRateLimitDto;

  @ApiProperty({
    type: 'integer',
    description: 'Credits charged today (UTC).',
    example: 0,
  })
  usage_daily!: number;

  @ApiProperty({ type: 'integer', description: 'Credits charged since Monday.', example: 0 })
  usage_weekly!: number;

  @ApiProperty({ type: 'integer', description: 'Credits charged this month.', example: 0 })
  usage_monthly!: number;

  @ApiProperty({
    enum: ['hourly', 'daily', 'weekly', 'monthly'],
    nullable: true,
    description: 'Period after which `limit` resets; null: never, or no limit.',
  })
  limit_reset!: 'hourly' | 'daily' | 'weekly' | 'monthly' | null;

  @ApiProperty({ type: String, format: 'date-time', nullable: true, example: null })
  expires_at!: string | null;

  @ApiProperty({ example: false })
  is_management_key!: boolean;

  @ApiProperty({ description: 'Same as `is_management_key`.', example: false })
  is_provisioning_key!: boolean;

  @ApiProperty({
    description: 'False: vendor charges to BYOK accounts do not count, but the fee does.',
    example: false,
  })
  include_byok_in_limit!: boolean;

  @ApiProperty(NOT_COUNTED)
  byok_usage!: number;

  @ApiProperty(NOT_COUNTED)
  byok_usage_daily!: number;

  @ApiProperty(NOT_COUNTED)
  byok_usage_weekly!: number;

  @ApiProperty(NOT_COUNTED)
  byok_usage_monthly!: number;

  @ApiProperty({ type: FreeRequestsDto, description: 'Empty: there are no free models.' })
  free_model_daily_requests!: FreeRequestsDto;

  @ApiProperty({ type: [String], description: 'Empty: there are no regions.', example: [] })
  allowed_data_regions!: string[];

  @ApiProperty({ type: String, nullable: true, example: null })
  creator_user_id!: null;

  @ApiProperty({ type: String, nullable: true, example: null })
  organization_id!: null;

  @ApiProperty({ type: String, nullable: true, example: null })
  workspace_id!: null;
}

export class CurrentKeyDto {
  @ApiProperty({ type: CurrentKeyRecordDto })
  data!: CurrentKeyRecordDto;
}
