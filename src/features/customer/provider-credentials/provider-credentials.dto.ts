import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { IsBoolean, IsObject, IsOptional, IsString, Matches } from 'class-validator';
import { MayBeAbsent } from '../../../platform/http/field.decorators.js';

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

export class DeletedProviderCredentialDto {
  @ApiProperty({ format: 'uuid' })
  id!: string;

  @ApiProperty({ example: true })
  deleted!: boolean;
}
