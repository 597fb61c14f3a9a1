import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { IsBoolean, IsInt, IsObject, IsOptional, Length, Max, Min } from 'class-validator';
import type { JsonObject } from '../../../platform/http/json-body.js';
import { MayBeAbsent } from '../../../platform/http/field.decorators.js';
import { anyObject } from './config.dto.js';

const MAX_NUMBER = 2 ** 31 - 1;

/** Options of a configuration change. */
export class ConfigChangeOptionsDto {
  @ApiPropertyOptional({ minLength: 1, maxLength: 1000, example: 'new prices' })
  @MayBeAbsent()
  @Length(1, 1_000, { message: 'comment must be a string of 1 to 1000 characters' })
  comment?: string;

  @ApiPropertyOptional({
    minimum: 0,
    description: 'The latest version you know. Nothing changes if there is a newer one.',
    example: 6,
  })
  @MayBeAbsent()
  @IsInt({ message: 'expected_version must be the number of a version' })
  @Min(0, { message: 'expected_version must be the number of a version' })
  @Max(MAX_NUMBER, { message: 'expected_version must be the number of a version' })
  expected_version?: number;

  @ApiPropertyOptional({ default: false, description: 'Validate without storing anything.' })
  @IsOptional()
  @IsBoolean({ message: 'dry_run must be true or false' })
  dry_run?: boolean;
}

export class MakeConfigVersionDto extends ConfigChangeOptionsDto {
  @ApiProperty({
    ...anyObject,
    description:
      'The complete configuration: `models` in the format of catalogue files, `providers` in the format of provider files plus optional `api_key`, and `settings` by variable name. Anything missing is removed.',
  })
  @IsObject({ message: 'document must be an object of models, providers and settings' })
  document!: JsonObject;
}

export class RollBackConfigDto extends ConfigChangeOptionsDto {
  @ApiProperty({ minimum: 1, description: 'Version to restore.', example: 5 })
  @IsInt({ message: 'version must be the number of a version' })
  @Min(1, { message: 'version must be the number of a version' })
  @Max(MAX_NUMBER, { message: 'version must be the number of a version' })
  version!: number;
}

export class PutConfigModelDto extends ConfigChangeOptionsDto {
  @ApiProperty({
    ...anyObject,
    description:
      'Fields of the model\'s row to replace. Prices are replaced one by one. `{"removed": true}` removes the model.',
    example: { pricing: { completion: '0.0000009' } },
  })
  @IsObject({ message: 'row must be an object' })
  row!: JsonObject;
}

export class TestConfigProviderDto {
  @ApiPropertyOptional({
    ...anyObject,
    description: 'The complete entry to test, without `id`. Defaults to the current one.',
    example: { name: 'Our own server', base_url: 'http://10.0.0.7:8000/v1', api_key: 'sk-…' },
  })
  @IsOptional()
  @IsObject({ message: 'provider must be an object' })
  provider?: JsonObject;
}

export class PutConfigProviderDto extends ConfigChangeOptionsDto {
  @ApiProperty({
    ...anyObject,
    description:
      'The complete entry without `id`. Without `api_key` the stored key stays if `base_url` is the same; null removes it.',
    example: { name: 'Our own server', base_url: 'http://10.0.0.7:8000/v1', api_key: 'sk-…' },
  })
  @IsObject({ message: 'provider must be an object' })
  provider!: JsonObject;
}
