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
  "Its share of the requests is this by the sum of the tenant's accounts with the provider; without it 1. " +
  'Where none of them has a weight or a limit, the newest is tried first.';
const REQUESTS = 'What the vendor allows it in a minute; without it as much as comes.';
const TOKENS = 'The same of tokens, input and output together.';

/** An integer of 1 or more; null as if it were absent. */
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

/** An account; what is required besides depends on the provider, and is checked by the service. */
export class TestProviderCredentialDto {
  @ApiProperty({ description: 'Id of the provider.', example: 'a-provider' })
  @IsString({ message: 'provider must be the id of a provider' })
  provider!: string;

  @ApiProperty({ description: "The account's key. It is stored encrypted and never shown again." })
  @IsString({ message: 'key must be a string' })
  key!: string;

  @ApiPropertyOptional({
    type: 'object',
    additionalProperties: { type: 'string' },
    description: 'What the provider has to know besides the key; most need nothing.',
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
    description: 'Whether shared capacity, at its price, may serve when this account does not.',
  })
  @MayBeAbsent()
  @IsBoolean({ message: 'allow_shared_fallback must be true or false' })
  allow_shared_fallback?: boolean;

  @ApiPropertyOptional({
    description:
      'Whether the key is tried first by a free call to the vendor, within 10 s: one that the vendor refuses is not ' +
      'stored then. As `GATEWAY_CHECK_KEYS` has it where it is absent, usually true.',
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

/** The same choice in the URL. */
export class CheckKeyQueryDto {
  @ApiPropertyOptional({ enum: ['true', 'false'], description: 'As `check` of the body.' })
  @MayBeAbsent()
  @IsIn(['true', 'false'], { message: 'check must be true or false' })
  check?: 'true' | 'false';
}

/** How requests are spread; what is absent stays as it is, and null takes it away. */
export class UpdateProviderCredentialDto {
  @ShareField(MAX_WEIGHT, WEIGHT, 3)
  weight?: number | null;

  @ShareField(MAX_PER_MINUTE, REQUESTS, 500)
  requests_per_minute?: number | null;

  @ShareField(MAX_PER_MINUTE, TOKENS, 200_000)
  tokens_per_minute?: number | null;
}

/** A tenant's own account with a provider, without its key. */
export class ProviderCredentialDto {
  @ApiProperty({ format: 'uuid' })
  id!: string;

  @ApiProperty({ example: 'a-provider' })
  provider!: string;

  @ApiProperty({ type: String, nullable: true })
  name!: string | null;

  @ApiProperty({ description: 'Enough to tell keys apart.', example: 'sk-p...4f2a' })
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
    description: 'Null before the first time; some seconds behind.',
  })
  last_used_at!: string | null;
}

export class CreatedProviderCredentialDto extends ProviderCredentialDto {
  @ApiProperty({
    type: KeyCheckDto,
    nullable: true,
    description: 'What the vendor said of the key; null: it was not asked.',
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

/** A provider that takes accounts of tenants. */
export class AccountProviderDto {
  @ApiProperty({ example: 'a-provider' })
  provider!: string;

  @ApiProperty({ example: 'A provider' })
  name!: string;

  @ApiProperty({ description: 'What the key is called there.', example: 'API key' })
  key_description!: string;

  @ApiProperty({ type: [AccountSettingDto], description: 'What it has to know besides the key.' })
  settings!: AccountSettingDto[];
}

export class AccountProviderListDto {
  @ApiProperty({ type: [AccountProviderDto], description: 'By name.' })
  data!: AccountProviderDto[];
}

export class DeletedProviderCredentialDto extends DeletedDto {}
