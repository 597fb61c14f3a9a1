import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { IsIn, IsInt, IsOptional, Max, Min } from 'class-validator';
import { API_KEY_TYPES, type ApiKeyType } from '../../../../core/access/caller.js';
import { MAX_RATE_LIMIT_PER_MINUTE } from '../../../../platform/config/setting-values.js';
import { IsName, MayBeAbsent } from '../../../../platform/http/field.decorators.js';
import { IsIsoDateTime } from './api-key-fields.decorators.js';

const RATE_LIMIT_MESSAGE = `rate_limit_per_minute must be an integer from 1 to ${MAX_RATE_LIMIT_PER_MINUTE}`;

const SPEND_LIMIT_MESSAGE = `monthly_spend_limit must be an integer from 1 to ${Number.MAX_SAFE_INTEGER}, or null`;

export class CreateApiKeyDto {
  @ApiProperty({ minLength: 1, maxLength: 255, example: 'billing service' })
  @IsName()
  name!: string;

  @ApiPropertyOptional({
    type: String,
    format: 'date-time',
    nullable: true,
    description: 'When the key stops working; null or absent: never. Must lie in the future.',
    example: '2030-12-31T23:59:59Z',
  })
  @IsOptional()
  @IsIsoDateTime()
  expires_at?: string | null;

  @ApiPropertyOptional({
    type: 'integer',
    minimum: 1,
    maximum: MAX_RATE_LIMIT_PER_MINUTE,
    description: "At most the limit of the calling key. Default: 600, or that limit if it's lower.",
    example: 600,
  })
  @MayBeAbsent()
  @IsInt({ message: RATE_LIMIT_MESSAGE })
  @Min(1, { message: RATE_LIMIT_MESSAGE })
  @Max(MAX_RATE_LIMIT_PER_MINUTE, { message: RATE_LIMIT_MESSAGE })
  rate_limit_per_minute?: number;

  @ApiPropertyOptional({
    type: 'integer',
    nullable: true,
    minimum: 1,
    maximum: Number.MAX_SAFE_INTEGER,
    description:
      'Credits that the key may spend in a calendar month (UTC); null or absent: as many as there ' +
      "are. At most the calling key's own limit, if it has one, which is then the default too.",
    example: 5_000_000,
  })
  @IsOptional()
  @IsInt({ message: SPEND_LIMIT_MESSAGE })
  @Min(1, { message: SPEND_LIMIT_MESSAGE })
  @Max(Number.MAX_SAFE_INTEGER, { message: SPEND_LIMIT_MESSAGE })
  monthly_spend_limit?: number | null;

  @ApiPropertyOptional({
    enum: API_KEY_TYPES,
    default: 'routing',
    description: 'Only a management key may create management keys.',
  })
  @MayBeAbsent()
  @IsIn(API_KEY_TYPES, { message: `type must be ${API_KEY_TYPES.join(' or ')}` })
  type?: ApiKeyType;
}
