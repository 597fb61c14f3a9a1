import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { IsBoolean, IsInt, IsObject, IsOptional, Length, Max, Min } from 'class-validator';
import type { JsonObject } from '../../../platform/http/json-body.js';
import { MayBeAbsent } from '../../../platform/http/field.decorators.js';
import { anyObject } from './config.dto.js';

const MAX_NUMBER = 2 ** 31 - 1;

/** How a change is made, beside what it is. */
export class ConfigChangeOptionsDto {
  @ApiPropertyOptional({ minLength: 1, maxLength: 1000, example: 'new prices' })
  @MayBeAbsent()
  @Length(1, 1_000, { message: 'comment must be a string of 1 to 1000 characters' })
  comment?: string;

  @ApiPropertyOptional({
    minimum: 0,
    description: 'The latest version that you know; where it is another one, nothing is changed.',
    example: 6,
  })
  @MayBeAbsent()
  @IsInt({ message: 'expected_version must be the number of a version' })
  @Min(0, { message: 'expected_version must be the number of a version' })
  @Max(MAX_NUMBER, { message: 'expected_version must be the number of a version' })
  expected_version?: number;

  @ApiPropertyOptional({ default: false, description: 'Checks everything and stores nothing.' })
  @IsOptional()
  @IsBoolean({ message: 'dry_run must be true or false' })
  dry_run?: boolean;
}

export class MakeConfigVersionDto extends ConfigChangeOptionsDto {
  @ApiProperty({
    ...anyObject,
    description:
      'All of the configuration: `models` are rows as in a catalogue file, `providers` entries as in a providers file that may have their `api_key` with them, `settings` values by the names of their variables. What is not in it goes.',
  })
  @IsObject({ message: 'document must be an object of models, providers and settings' })
  document!: JsonObject;
}

export class RollBackConfigDto extends ConfigChangeOptionsDto {
  @ApiProperty({ minimum: 1, description: 'The version to go back to.', example: 5 })
  @IsInt({ message: 'version must be the number of a version' })
  @Min(1, { message: 'version must be the number of a version' })
  @Max(MAX_NUMBER, { message: 'version must be the number of a version' })
  version!: number;
}

export class PutConfigModelDto extends ConfigChangeOptionsDto {
  @ApiProperty({
    ...anyObject,
    description:
      'Fields of the model\'s row, which take the place of those it has; prices one by one. `{"removed": true}` takes the model away.',
    example: { pricing: { completion: '0.0000009' } },
  })
  @IsObject({ message: 'row must be an object' })
  row!: JsonObject;
}

export class TestConfigProviderDto {
  @ApiPropertyOptional({
    ...anyObject,
    description: 'The whole entry but its `id`, as it is to be put; without it, the one in force.',
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
      'The whole entry but its `id`. Without `api_key` the key that is there stays, at the same `base_url`; null takes it away.',
    example: { name: 'Our own server', base_url: 'http://10.0.0.7:8000/v1', api_key: 'sk-…' },
  })
  @IsObject({ message: 'provider must be an object' })
  provider!: JsonObject;
}
