import { KEY_RIGHTS, type KeyRight } from '../../../core/access/roles.js';
import {
  KeyExpiry,
  KeyRateLimit,
  KeySpendLimit,
} from '../../../core/access/key-fields.decorators.js';
import { ApiPropertyOptional, ApiProperty } from '@nestjs/swagger';
import { Allow, IsArray, IsBoolean, IsOptional, IsIn } from 'class-validator';
import { IsName, MayBeAbsent } from '../../../platform/http/field.decorators.js';
import { BudgetStateDto, LimitsDto, LimitsStateDto } from '../../../core/limits/limits.dto.js';
import { API_KEY_TYPES, type ApiKeyType } from '../../../core/access/caller.js';
import { API_KEY_STATUSES, type ApiKeyStatus } from '../../../core/access/api-key.entity.js';

class ApiKeyUsageDto {
  @ApiProperty({ type: 'integer', description: 'Requests made with the key.', example: 42 })
  request_count!: number;

  @ApiProperty({ type: 'integer', description: 'Credits charged to the key.', example: 12_500 })
  total_spend!: number;
}

/** An API key as its tenant sees it. */
export class ApiKeyDto {
  @ApiProperty({ format: 'uuid' })
  id!: string;

  @ApiProperty({ example: 'billing service' })
  name!: string;

  @ApiProperty({
    enum: API_KEY_TYPES,
    description: '`routing` keys call models, `management` keys manage the account.',
  })
  type!: ApiKeyType;

  @ApiProperty({
    type: String,
    format: 'uuid',
    nullable: true,
    description: 'Routing key that created it. Its limits and expiry apply as well. Null: none.',
    example: null,
  })
  parent_id!: string | null;

  @ApiProperty({ example: 'sk-4fR9...x2Qa' })
  key_preview!: string;

  @ApiProperty({ type: String, format: 'date-time', nullable: true })
  expires_at!: string | null;

  @ApiProperty({ description: 'False once the key is expired or revoked.' })
  is_active!: boolean;

  @ApiProperty({ enum: API_KEY_STATUSES, example: 'active' })
  status!: ApiKeyStatus;

  @ApiProperty({ type: ApiKeyUsageDto })
  usage!: ApiKeyUsageDto;

  @ApiProperty({
    type: 'integer',
    nullable: true,
    description: 'Credits per calendar month; null: no own limit.',
    example: null,
  })
  monthly_spend_limit!: number | null;

  @ApiProperty({
    type: BudgetStateDto,
    nullable: true,
    description:
      'Remainder of the lowest monthly limit among this key and its ancestors; null: unlimited.',
  })
  monthly_spend!: BudgetStateDto | null;

  @ApiProperty({
    type: LimitsStateDto,
    description:
      'Limits set by the tenant. Those of ancestor keys and of the tenant apply as well.',
  })
  limits!: LimitsStateDto;

  @ApiProperty({ type: LimitsStateDto, description: 'Limits set by the operator, in addition.' })
  operator_limits!: LimitsStateDto;

  @ApiProperty({
    type: Boolean,
    nullable: true,
    description:
      'Whether prompts and answers of its requests are stored; null: inherited from its parent key or the tenant.',
    example: null,
  })
  content_log!: boolean | null;

  @ApiProperty({
    enum: KEY_RIGHTS,
    isArray: true,
    description:
      'Permissions besides calling models, within its type. Granted from the creator, less any that the creator has lost since.',
    example: ['money', 'read', 'develop'],
  })
  rights!: KeyRight[];

  @ApiProperty({ type: String, format: 'date-time', nullable: true })
  last_used_at!: string | null;

  @ApiProperty({ type: String, format: 'date-time' })
  created_at!: string;

  @ApiProperty({ type: String, format: 'date-time' })
  updated_at!: string;
}

/** The response to a creation, the only one with the key itself. */
export class CreatedApiKeyDto extends ApiKeyDto {
  @ApiProperty({ type: 'integer', example: 600 })
  rate_limit_per_minute!: number;

  @ApiProperty({
    description: 'The key in plaintext. Shown only once and not stored.',
    example: 'sk-4fR9…x2Qa',
  })
  key!: string;
}

export class ApiKeyListDto {
  @ApiProperty({
    type: [ApiKeyDto],
    description: 'Newest first, including revoked and expired keys.',
  })
  data!: ApiKeyDto[];
}

export class CreateApiKeyDto {
  @ApiProperty({ minLength: 1, maxLength: 255, example: 'billing service' })
  @IsName()
  name!: string;

  @KeyExpiry('When the key expires, in the future; null or absent: never.')
  expires_at?: string | null;

  @KeyRateLimit('At most the limit of the calling key. Defaults to 600, or to that limit if lower.')
  rate_limit_per_minute?: number;

  @KeySpendLimit(
    'Credits per calendar month (UTC); null or absent: unlimited. At most the calling ' +
      "key's own limit, which is then also the default.",
  )
  monthly_spend_limit?: number | null;

  @Allow()
  @ApiPropertyOptional({
    type: LimitsDto,
    nullable: true,
    description:
      "Routing keys only. No limit can exceed the calling key's own, which also apply to keys created by routing keys.",
  })
  limits?: LimitsDto | null;

  @ApiPropertyOptional({
    enum: API_KEY_TYPES,
    default: 'routing',
    description: 'Only management keys can create management keys.',
  })
  @MayBeAbsent()
  @IsIn(API_KEY_TYPES, { message: `type must be ${API_KEY_TYPES.join(' or ')}` })
  type?: ApiKeyType;
}

/** Fields that can change. Others are rejected. */
export class UpdateApiKeyDto {
  @ApiPropertyOptional({ minLength: 1, maxLength: 255, example: 'billing service' })
  @MayBeAbsent()
  @IsName()
  name?: string;

  @KeyExpiry('The new expiry, in the future; null clears it.')
  expires_at?: string | null;

  @Allow()
  @ApiPropertyOptional({
    type: LimitsDto,
    nullable: true,
    description: 'Replaces the previous limits; null removes them.',
  })
  limits?: LimitsDto | null;

  @ApiPropertyOptional({
    type: Boolean,
    nullable: true,
    description:
      'Whether prompts and answers of its requests are stored; null: inherited from its parent key or the tenant. Requires a management key.',
    example: true,
  })
  @IsOptional()
  @IsBoolean({ message: 'content_log must be true, false or null' })
  content_log?: boolean | null;

  @ApiPropertyOptional({
    enum: KEY_RIGHTS,
    isArray: true,
    description:
      'New permissions. The caller must have each of them. From then on the key depends on the caller instead of its creator.',
    example: ['money', 'read', 'develop', 'own', 'content'],
  })
  @MayBeAbsent()
  @IsArray({ message: 'rights must be an array' })
  @IsIn(KEY_RIGHTS, { each: true, message: `rights must be among ${KEY_RIGHTS.join(', ')}` })
  rights?: KeyRight[];
}
