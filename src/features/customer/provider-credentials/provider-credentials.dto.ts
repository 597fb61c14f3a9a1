import { ScopeDto } from '../../../core/access/scope.js';
import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { applyDecorators } from '@nestjs/common';
import {
  IsBoolean,
  IsIn,
  IsInt,
  IsObject,
  IsOptional,
  IsString,
  Matches,
  Max,
  Min,
} from 'class-validator';
import { KeyCheckDto } from '../../../core/credentials/account-check.dto.js';
import { MayBeAbsent } from '../../../platform/http/field.decorators.js';
import { DeletedDto } from '../../../platform/http/deleted.dto.js';

const MAX_WEIGHT = 1_000;
const MAX_PER_MINUTE = 1_000_000_000;

const WEIGHT =
  "Share of requests relative to the sum over the tenant's accounts with the provider. Defaults to 1. " +
  'When no account has a weight or limit, the newest is tried first.';
const REQUESTS = "The vendor's limit of requests per minute. Defaults to unlimited.";
const TOKENS = "The vendor's limit of tokens per minute, input plus output. Defaults to unlimited.";

/** An integer of 1 or more. Null counts as absent. */
function ShareField(maximum: number, description: string, example: number): PropertyDecorator {
  const message = `$property must be an integer from 1 to ${maximum}, or null`;
  return applyDecorators(
    ApiPropertyOptional({
      type: 'integer',
      minimum: 1,
      maximum,
      nullable: true,
      description,
      example,
    }),
    IsOptional(),
    IsInt({ message }),
    Min(1, { message }),
    Max(maximum, { message }),
  );
}

/** An account. Required settings depend on the provider and are checked by the service. */
export class TestProviderCredentialDto {
  @ApiProperty({ description: 'Id of the provider.', example: 'a-provider' })
  @IsString({ message: 'provider must be the id of a provider' })
  provider!: string;

  @ApiProperty({ description: 'Key of the account. Stored encrypted and never shown again.' })
  @IsString({ message: 'key must be a string' })
  key!: string;

  @ApiPropertyOptional({
    type: 'object',
    additionalProperties: { type: 'string' },
    description: 'Provider-specific settings. Most providers need none.',
  })
  @MayBeAbsent()
  @IsObject({ message: 'settings must be an object' })
  settings?: Record<string, unknown>;
}

export class CreateProviderCredentialDto extends TestProviderCredentialDto {
  @ApiPropertyOptional({ type: String, nullable: true, minLength: 1, maxLength: 255 })
  @IsOptional()
  @Matches(/^[^]{1,255}$/u, { message: 'name must be a string of 1 to 255 characters, or null' })
  name?: string | null;

  @ApiPropertyOptional({
    default: false,
    description: 'Whether to fall back to shared capacity, at its price.',
  })
  @MayBeAbsent()
  @IsBoolean({ message: 'allow_shared_fallback must be true or false' })
  allow_shared_fallback?: boolean;

  @ApiPropertyOptional({
    description:
      'Whether to check the key with a free vendor call within 10 s first. A rejected key is ' +
      'not stored. Defaults to `GATEWAY_CHECK_KEYS`, usually true.',
    example: true,
  })
  @MayBeAbsent()
  @IsBoolean({ message: 'check must be true or false' })
  check?: boolean;

  @ShareField(MAX_WEIGHT, WEIGHT, 3)
  weight?: number | null;

  @ShareField(MAX_PER_MINUTE, REQUESTS, 500)
  requests_per_minute?: number | null;

  @ShareField(MAX_PER_MINUTE, TOKENS, 200_000)
  tokens_per_minute?: number | null;
}

/** `check` as a query parameter. */
export class CheckKeyQueryDto {
  @ApiPropertyOptional({ enum: ['true', 'false'], description: 'Same as `check` in the body.' })
  @MayBeAbsent()
  @IsIn(['true', 'false'], { message: 'check must be true or false' })
  check?: 'true' | 'false';
}

/** How requests are spread. Absent fields keep their values; null clears them. */
export class UpdateProviderCredentialDto {
  @ShareField(MAX_WEIGHT, WEIGHT, 3)
  weight?: number | null;

  @ShareField(MAX_PER_MINUTE, REQUESTS, 500)
  requests_per_minute?: number | null;

  @ShareField(MAX_PER_MINUTE, TOKENS, 200_000)
  tokens_per_minute?: number | null;
}

/** A BYOK account without its key. */
export class ProviderCredentialDto {
  @ApiProperty({ format: 'uuid' })
  id!: string;

  @ApiProperty({ example: 'a-provider' })
  provider!: string;

  @ApiProperty({ type: String, nullable: true })
  name!: string | null;

  @ApiProperty({ description: 'Masked key, to tell keys apart.', example: 'sk-p...4f2a' })
  key_preview!: string;

  @ApiProperty({ type: 'object', additionalProperties: { type: 'string' } })
  settings!: Record<string, string>;

  @ApiProperty({ example: false })
  allow_shared_fallback!: boolean;

  @ApiProperty({ type: ScopeDto })
  scope!: ScopeDto;

  @ApiProperty({ type: 'integer', nullable: true, example: 3 })
  weight!: number | null;

  @ApiProperty({ type: 'integer', nullable: true, example: 500 })
  requests_per_minute!: number | null;

  @ApiProperty({ type: 'integer', nullable: true, example: 200_000 })
  tokens_per_minute!: number | null;

  @ApiProperty({ type: String, format: 'date-time' })
  created_at!: string;

  @ApiProperty({
    type: String,
    format: 'date-time',
    nullable: true,
    description: 'Null before the first use. A few seconds behind.',
  })
  last_used_at!: string | null;
}

export class CreatedProviderCredentialDto extends ProviderCredentialDto {
  @ApiProperty({
    type: KeyCheckDto,
    nullable: true,
    description: 'Result of the key check; null: not checked.',
  })
  check!: KeyCheckDto | null;
}

export class ProviderCredentialListDto {
  @ApiProperty({ type: [ProviderCredentialDto], description: 'Newest first.' })
  data!: ProviderCredentialDto[];
}

class AccountSettingDto {
  @ApiProperty({ example: 'region' })
  name!: string;

  @ApiProperty({ example: true })
  is_required!: boolean;

  @ApiProperty({ example: 'AWS region' })
  description!: string;
}

/** A provider that supports BYOK accounts. */
export class AccountProviderDto {
  @ApiProperty({ example: 'a-provider' })
  provider!: string;

  @ApiProperty({ example: 'A provider' })
  name!: string;

  @ApiProperty({ description: "The provider's name for the key.", example: 'API key' })
  key_description!: string;

  @ApiProperty({ type: [AccountSettingDto], description: 'Settings needed besides the key.' })
  settings!: AccountSettingDto[];
}

export class AccountProviderListDto {
  @ApiProperty({ type: [AccountProviderDto], description: 'By name.' })
  data!: AccountProviderDto[];
}

export class DeletedProviderCredentialDto extends DeletedDto {}
