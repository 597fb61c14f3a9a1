import { KEY_RIGHTS, type KeyRight } from '../../../core/people/roles.js';
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
    description: '`routing` calls models, `management` the account.',
  })
  type!: ApiKeyType;

  @ApiProperty({
    type: String,
    format: 'uuid',
    nullable: true,
    description: 'The routing key that made it, whose limits and end hold as well; null: none did.',
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
    description: 'Credits in a calendar month; null: no limit of its own.',
    example: null,
  })
  monthly_spend_limit!: number | null;

  @ApiProperty({
    type: BudgetStateDto,
    nullable: true,
    description:
      'What is left of `monthly_spend_limit`, or of that of a key above it where that leaves less; null: there is none.',
  })
  monthly_spend!: BudgetStateDto | null;

  @ApiProperty({
    type: LimitsStateDto,
    description: 'Set by the tenant; those of keys above it and of the tenant hold as well.',
  })
  limits!: LimitsStateDto;

  @ApiProperty({ type: LimitsStateDto, description: 'Set by the operator; they hold as well.' })
  operator_limits!: LimitsStateDto;

  @ApiProperty({
    type: Boolean,
    nullable: true,
    description:
      'Whether prompts and answers of its requests are kept; null: as the key above it or the tenant decides.',
    example: null,
  })
  content_log!: boolean | null;

  @ApiProperty({
    enum: KEY_RIGHTS,
    isArray: true,
    description:
      "What the key may do beside calling models, within its type: its creator's rights at the time, less those that the creator has lost since.",
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

/** The answer to a key's creation, the only one that ever holds the key itself. */
export class CreatedApiKeyDto extends ApiKeyDto {
  @ApiProperty({ type: 'integer', example: 600 })
  rate_limit_per_minute!: number;

  @ApiProperty({
    description: 'The key in plaintext. It is shown this once and not stored.',
    example: 'sk-4fR9…x2Qa',
  })
  key!: string;
}

export class ApiKeyListDto {
  @ApiProperty({
    type: [ApiKeyDto],
    description: 'Newest first, revoked and expired ones included.',
  })
  data!: ApiKeyDto[];
}

export class CreateApiKeyDto {
  @ApiProperty({ minLength: 1, maxLength: 255, example: 'billing service' })
  @IsName()
  name!: string;

  @KeyExpiry('When the key stops working; null or absent: never. Must lie in the future.')
  expires_at?: string | null;

  @KeyRateLimit("At most the limit of the calling key. Default: 600, or that limit if it's lower.")
  rate_limit_per_minute?: number;

  @KeySpendLimit(
    'Credits that the key may spend in a calendar month (UTC); null or absent: as many as there ' +
      "are. At most the calling key's own limit, if it has one, which is then the default too.",
  )
  monthly_spend_limit?: number | null;

  @Allow()
  @ApiPropertyOptional({
    type: LimitsDto,
    nullable: true,
    description:
      'Of routing keys. None may be above what the calling key has itself, which holds as well for what a routing key makes.',
  })
  limits?: LimitsDto | null;

  @ApiPropertyOptional({
    enum: API_KEY_TYPES,
    default: 'routing',
    description: 'Only a management key may create management keys.',
  })
  @MayBeAbsent()
  @IsIn(API_KEY_TYPES, { message: `type must be ${API_KEY_TYPES.join(' or ')}` })
  type?: ApiKeyType;
}

/** The fields that can change; any other is refused. */
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
    description: 'In place of those of before; null: none.',
  })
  limits?: LimitsDto | null;

  @ApiPropertyOptional({
    type: Boolean,
    nullable: true,
    description:
      'Whether prompts and answers of its requests are kept; null: as the key above it or the tenant decides. Needs a management key.',
    example: true,
  })
  @IsOptional()
  @IsBoolean({ message: 'content_log must be true, false or null' })
  content_log?: boolean | null;

  @ApiPropertyOptional({
    enum: KEY_RIGHTS,
    isArray: true,
    description:
      'The rights the key is to have. The caller must have each of them, and the key depends on the caller from then on instead of on its creator.',
    example: ['money', 'read', 'develop', 'own', 'content'],
  })
  @MayBeAbsent()
  @IsArray({ message: 'rights must be an array' })
  @IsIn(KEY_RIGHTS, { each: true, message: `rights must be among ${KEY_RIGHTS.join(', ')}` })
  rights?: KeyRight[];
}
