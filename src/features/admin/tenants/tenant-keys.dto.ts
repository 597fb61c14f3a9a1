import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { IsIn, IsInt, IsOptional, Max, Min } from 'class-validator';
import { API_KEY_STATUSES, type ApiKeyStatus } from '../../../core/access/api-key.entity.js';
import { API_KEY_TYPES, MAKERS, type ApiKeyType, type Maker } from '../../../core/access/caller.js';
import {
  DEFAULT_RATE_LIMIT_PER_MINUTE,
  MAX_RATE_LIMIT_PER_MINUTE,
} from '../../../platform/config/setting-values.js';
import { CursorPageDto } from '../../../platform/http/cursor-page.js';
import { IsIsoDateTime, IsName, MayBeAbsent } from '../../../platform/http/field.decorators.js';

/** A tenant's key as operators see it: its limits and its end are also those of the keys above it. */
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

  @ApiProperty({ enum: MAKERS, description: 'The operator, or a key of this type.' })
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

/** The answer to a key's creation, the only one that ever holds the key itself. */
export class CreatedTenantKeyDto extends TenantKeyDto {
  @ApiProperty({
    description: 'The key in plaintext. It is shown this once and not stored.',
    example: 'sk-4fR9…x2Qa',
  })
  key!: string;
}

export class TenantKeyListDto extends CursorPageDto {
  @ApiProperty({ type: [TenantKeyDto], description: 'Newest first, revoked ones included.' })
  data!: TenantKeyDto[];
}

const RATE_LIMIT = `rate_limit_per_minute must be an integer from 1 to ${MAX_RATE_LIMIT_PER_MINUTE}`;
const SPEND_LIMIT = `monthly_spend_limit must be an integer from 1 to ${Number.MAX_SAFE_INTEGER}, or null`;

/** What of a key may be set when it is made and later. */
abstract class TenantKeyFieldsDto {
  @ApiPropertyOptional({
    type: String,
    format: 'date-time',
    nullable: true,
    description: 'When the key stops working, in the future; null: never.',
    example: '2030-12-31T23:59:59Z',
  })
  @IsOptional()
  @IsIsoDateTime()
  expires_at?: string | null;

  @ApiPropertyOptional({
    type: 'integer',
    minimum: 1,
    maximum: MAX_RATE_LIMIT_PER_MINUTE,
    description: `Requests a minute; ${DEFAULT_RATE_LIMIT_PER_MINUTE} where none is given at first.`,
    example: 600,
  })
  @MayBeAbsent()
  @IsInt({ message: RATE_LIMIT })
  @Min(1, { message: RATE_LIMIT })
  @Max(MAX_RATE_LIMIT_PER_MINUTE, { message: RATE_LIMIT })
  rate_limit_per_minute?: number;

  @ApiPropertyOptional({
    type: 'integer',
    nullable: true,
    minimum: 1,
    maximum: Number.MAX_SAFE_INTEGER,
    description:
      'Credits in a calendar month (UTC); null: as many as there are. A limit that a key gets later ' +
      'counts what it spends from then on.',
    example: 5_000_000,
  })
  @IsOptional()
  @IsInt({ message: SPEND_LIMIT })
  @Min(1, { message: SPEND_LIMIT })
  @Max(Number.MAX_SAFE_INTEGER, { message: SPEND_LIMIT })
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

/** What is given changes. */
export class UpdateTenantKeyDto extends TenantKeyFieldsDto {
  @ApiPropertyOptional({ minLength: 1, maxLength: 255, example: 'billing service' })
  @MayBeAbsent()
  @IsName()
  name?: string;
}
