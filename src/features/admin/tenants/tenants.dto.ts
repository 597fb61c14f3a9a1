import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import {
  ArrayMaxSize,
  IsArray,
  IsIn,
  IsInt,
  IsOptional,
  IsString,
  Max,
  Min,
} from 'class-validator';
import { API_KEY_TYPES, type ApiKeyType } from '../../../core/access/caller.js';
import {
  TENANT_SORTS,
  TENANT_STATUSES,
  type TenantSort,
  type TenantStatus,
} from '../../../core/tenants/tenants.service.js';
import { MAX_GRANT_CREDITS } from '../../../platform/config/setting-values.js';
import { CursorPageDto, CursorPageQueryDto } from '../../../platform/http/cursor-page.js';
import { IsName, MayBeAbsent } from '../../../platform/http/field.decorators.js';
import { CreatedTenantKeyDto } from './tenant-keys.dto.js';
import { IsMemo } from './tenant-entries.dto.js';

const SETTABLE_STATUSES = ['active', 'suspended'] as const;
const ORDERS = ['asc', 'desc'] as const;
const MAX_FIRST_KEYS = 10;

/** Amounts are credits: 1 credit = 0.000001 USD. */
export class TenantDto {
  @ApiProperty({ format: 'uuid' })
  id!: string;

  @ApiProperty({ example: 'acme', description: 'For a deleted tenant, `deleted` and its id.' })
  name!: string;

  @ApiProperty({ enum: TENANT_STATUSES, example: 'active' })
  status!: TenantStatus;

  @ApiProperty({ type: 'integer', description: 'Granted and not yet spent.', example: 8_750_000 })
  balance!: number;

  @ApiProperty({ type: 'integer', description: 'Reserved for open requests.', example: 50_000 })
  held!: number;

  @ApiProperty({ type: 'integer', description: '`balance` less `held`.', example: 8_700_000 })
  available!: number;

  @ApiProperty({ type: 'integer', description: 'Total credits spent.', example: 1_250_000 })
  spent!: number;

  @ApiProperty({
    type: 'integer',
    description: 'Spend in this calendar month (UTC).',
    example: 320_000,
  })
  spent_this_month!: number;

  @ApiProperty({ type: 'integer', description: 'Total log rows.', example: 10_400 })
  request_count!: number;

  @ApiProperty({ type: 'integer', description: 'Keys that are not revoked.', example: 3 })
  key_count!: number;

  @ApiProperty({
    type: 'integer',
    nullable: true,
    description: 'Credits per calendar month (UTC); null: no limit.',
    example: null,
  })
  monthly_spend_limit!: number | null;

  @ApiProperty({ type: String, format: 'date-time', nullable: true })
  suspended_at!: string | null;

  @ApiProperty({ type: String, format: 'date-time', nullable: true })
  deleted_at!: string | null;

  @ApiProperty({
    type: String,
    format: 'date-time',
    nullable: true,
    description: 'When the last personal data of a deleted tenant was removed.',
  })
  erased_at!: string | null;

  @ApiProperty({ type: String, format: 'date-time' })
  created_at!: string;
}

export class TenantListDto extends CursorPageDto {
  @ApiProperty({ type: [TenantDto] })
  data!: TenantDto[];
}

export class TenantQueryDto extends CursorPageQueryDto {
  @ApiPropertyOptional({ description: 'Case-insensitive part of the name.', example: 'acm' })
  @IsOptional()
  @IsString({ message: 'search must be a single string' })
  search?: string;

  @ApiPropertyOptional({
    enum: TENANT_STATUSES,
    description: 'Defaults to all but deleted tenants.',
  })
  @IsOptional()
  @IsIn(TENANT_STATUSES, { message: `status must be one of ${TENANT_STATUSES.join(', ')}` })
  status?: TenantStatus;

  @ApiPropertyOptional({ enum: TENANT_SORTS, default: 'created_at' })
  @IsOptional()
  @IsIn(TENANT_SORTS, { message: `sort must be one of ${TENANT_SORTS.join(', ')}` })
  sort: TenantSort = 'created_at';

  @ApiPropertyOptional({ enum: ORDERS, default: 'desc' })
  @IsOptional()
  @IsIn(ORDERS, { message: 'order must be asc or desc' })
  order: (typeof ORDERS)[number] = 'desc';
}

const MONTHLY_LIMIT = `monthly_spend_limit must be an integer from 0 to ${Number.MAX_SAFE_INTEGER}, or null`;

/** Monthly limit, shared by the bodies that set it. */
abstract class TenantLimitDto {
  @ApiPropertyOptional({
    type: 'integer',
    nullable: true,
    minimum: 0,
    maximum: Number.MAX_SAFE_INTEGER,
    description: 'Credits per calendar month (UTC) for all keys together; null: no limit.',
    example: 5_000_000,
  })
  @IsOptional()
  @IsInt({ message: MONTHLY_LIMIT })
  @Min(0, { message: MONTHLY_LIMIT })
  @Max(Number.MAX_SAFE_INTEGER, { message: MONTHLY_LIMIT })
  monthly_spend_limit?: number | null;
}

const CREDITS = `credits must be an integer from 0 to ${MAX_GRANT_CREDITS}`;
const FIRST_KEYS = `keys must be an array of at most ${MAX_FIRST_KEYS} key types, each ${API_KEY_TYPES.join(' or ')}`;

export class CreateTenantDto extends TenantLimitDto {
  @ApiProperty({ minLength: 1, maxLength: 255, example: 'acme', description: 'Must be unique.' })
  @IsName()
  name!: string;

  @ApiPropertyOptional({
    type: 'integer',
    minimum: 0,
    maximum: MAX_GRANT_CREDITS,
    default: 0,
    description: 'Initial grant.',
    example: 10_000_000,
  })
  @MayBeAbsent()
  @IsInt({ message: CREDITS })
  @Min(0, { message: CREDITS })
  @Max(MAX_GRANT_CREDITS, { message: CREDITS })
  credits?: number;

  @IsMemo()
  memo?: string | null;

  @ApiPropertyOptional({
    enum: API_KEY_TYPES,
    isArray: true,
    maxItems: MAX_FIRST_KEYS,
    description: 'Types of keys to create. Only this response contains the keys.',
    example: ['routing', 'management'],
  })
  @MayBeAbsent()
  @IsArray({ message: FIRST_KEYS })
  @ArrayMaxSize(MAX_FIRST_KEYS, { message: FIRST_KEYS })
  @IsIn(API_KEY_TYPES, { each: true, message: FIRST_KEYS })
  keys?: ApiKeyType[];
}

export class CreatedTenantDto extends TenantDto {
  @ApiProperty({ type: [CreatedTenantKeyDto], description: 'Shown only once.' })
  keys!: CreatedTenantKeyDto[];
}

/** Omitted fields keep their values. */
export class UpdateTenantDto extends TenantLimitDto {
  @ApiPropertyOptional({ minLength: 1, maxLength: 255, example: 'acme' })
  @MayBeAbsent()
  @IsName()
  name?: string;

  @ApiPropertyOptional({
    enum: SETTABLE_STATUSES,
    description:
      '`suspended`: its keys are read-only within a second. `active`: they work as before.',
    example: 'suspended',
  })
  @MayBeAbsent()
  @IsIn(SETTABLE_STATUSES, { message: `status must be ${SETTABLE_STATUSES.join(' or ')}` })
  status?: (typeof SETTABLE_STATUSES)[number];
}
