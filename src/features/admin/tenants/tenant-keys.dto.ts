import {
  KeyExpiry,
  KeyRateLimit,
  KeySpendLimit,
} from '../../../core/access/key-fields.decorators.js';
import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { IsIn } from 'class-validator';
import { API_KEY_STATUSES, type ApiKeyStatus } from '../../../core/access/api-key.entity.js';
import { API_KEY_TYPES, MAKERS, type ApiKeyType, type Maker } from '../../../core/access/caller.js';
import { DEFAULT_RATE_LIMIT_PER_MINUTE } from '../../../platform/config/setting-values.js';
import { CursorPageDto } from '../../../platform/http/cursor-page.js';
import { IsName, MayBeAbsent } from '../../../platform/http/field.decorators.js';

/** A tenant's key for operators. Limits and expiry of its ancestor keys apply as well. */
export class TenantKeyDto {
  @ApiProperty({ format: 'uuid' })
  id!: string;

  @ApiProperty({ enum: API_KEY_TYPES, example: 'routing' })
  type!: ApiKeyType;

  @ApiProperty({ example: 'billing service' })
  name!: string;

  @ApiProperty({ example: 'sk-4fR9...x2Qa' })
  key_preview!: string;

  @ApiProperty({ enum: API_KEY_STATUSES, example: 'active' })
  status!: ApiKeyStatus;

  @ApiProperty({ enum: MAKERS, description: 'The operator, or the type of the creating key.' })
  made_by!: Maker;

  @ApiProperty({ type: 'integer', example: 600 })
  rate_limit_per_minute!: number;

  @ApiProperty({ type: 'integer', nullable: true, example: null })
  monthly_spend_limit!: number | null;

  @ApiProperty({ type: 'integer', description: 'Requests made with the key.', example: 42 })
  request_count!: number;

  @ApiProperty({ type: 'integer', description: 'Credits charged to the key.', example: 12_500 })
  total_spend!: number;

  @ApiProperty({ type: String, format: 'date-time', nullable: true })
  expires_at!: string | null;

  @ApiProperty({ type: String, format: 'date-time', nullable: true })
  revoked_at!: string | null;

  @ApiProperty({ type: String, format: 'date-time', nullable: true })
  last_used_at!: string | null;

  @ApiProperty({ type: String, format: 'date-time' })
  created_at!: string;
}

/** The response to a creation, the only one with the key itself. */
export class CreatedTenantKeyDto extends TenantKeyDto {
  @ApiProperty({
    description: 'The key in plaintext. Shown only once and not stored.',
    example: 'sk-4fR9…x2Qa',
  })
  key!: string;
}

export class TenantKeyListDto extends CursorPageDto {
  @ApiProperty({ type: [TenantKeyDto], description: 'Newest first, including revoked keys.' })
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
  @ApiProperty({ minLength: 1, maxLength: 255, example: 'billing service' })
  @IsName()
  name!: string;

  @ApiPropertyOptional({ enum: API_KEY_TYPES, default: 'routing' })
  @MayBeAbsent()
  @IsIn(API_KEY_TYPES, { message: `type must be ${API_KEY_TYPES.join(' or ')}` })
  type?: ApiKeyType;
}

/** Omitted fields keep their values. */
export class UpdateTenantKeyDto extends TenantKeyFieldsDto {
  @ApiPropertyOptional({ minLength: 1, maxLength: 255, example: 'billing service' })
  @MayBeAbsent()
  @IsName()
  name?: string;
}
