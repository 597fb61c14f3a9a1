import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { IsOptional, IsString } from 'class-validator';
import { MODEL_KINDS, type ModelKind } from '../../../core/catalogue/catalogue.types.js';
import { CursorPageDto, CursorPageQueryDto } from '../../../platform/http/cursor-page.js';
import type { JsonObject } from '../../../platform/http/json-body.js';
import { anyObject } from './config.dto.js';

/** Sources of configuration values. */
const CONFIG_SOURCES = ['version', 'file', 'variable', 'default'] as const;
type ConfigSource = (typeof CONFIG_SOURCES)[number];

export class EffectiveModelDto {
  @ApiProperty({ example: 'openai/gpt-4o-mini' })
  id!: string;

  @ApiProperty({ enum: CONFIG_SOURCES, description: '`file`: from `GATEWAY_CATALOGUE`.' })
  source!: ConfigSource;

  @ApiProperty({
    description: 'Whether a file on this instance overrides the version for this model.',
    example: false,
  })
  is_overridden!: boolean;

  @ApiProperty({ ...anyObject, description: 'The row that overrides the built-in one.' })
  row!: JsonObject;
}

/** A model with its effective prices. */
class PricedModelDto {
  @ApiProperty({ description: 'A family ends in `*`.', example: 'openai/gpt-4o-mini' })
  id!: string;

  @ApiProperty({ enum: MODEL_KINDS })
  kind!: ModelKind;

  @ApiProperty({ enum: CONFIG_SOURCES, description: '`default`: built in.' })
  source!: ConfigSource;

  @ApiProperty({
    description: 'Whether a file on this instance overrides the version for this model.',
    example: false,
  })
  is_overridden!: boolean;

  @ApiProperty({
    type: 'object',
    additionalProperties: { type: 'string' },
    description: 'USD per token, request or image.',
    example: { prompt: '0.00000015', completion: '0.0000006' },
  })
  pricing!: Record<string, string>;
}

export class PricedModelListDto extends CursorPageDto {
  @ApiProperty({ type: [PricedModelDto], description: 'Sorted by id.' })
  data!: PricedModelDto[];
}

export class PricedModelQueryDto extends CursorPageQueryDto {
  @ApiPropertyOptional({ description: 'Case-insensitive part of the id.', example: 'echo' })
  @IsOptional()
  @IsString({ message: 'search must be a single string' })
  search?: string;
}

export class EffectiveProviderDto {
  @ApiProperty({ example: 'local' })
  id!: string;

  @ApiProperty({ example: 'Our own server' })
  name!: string;

  @ApiProperty({ example: 'http://10.0.0.7:8000/v1' })
  base_url!: string;

  @ApiProperty({
    enum: CONFIG_SOURCES,
    description:
      '`file`: from `GATEWAY_PROVIDERS`. `variable`: a vendor account configured by variables.',
  })
  source!: ConfigSource;

  @ApiProperty({
    type: String,
    nullable: true,
    description: 'First and last characters of a key stored in a version.',
    example: 'sk-1...a9f2',
  })
  api_key_preview!: string | null;

  @ApiProperty({ description: 'Whether this instance can call it.', example: true })
  is_callable!: boolean;
}

export class EffectiveSettingDto {
  @ApiProperty({ example: 'GATEWAY_COOLDOWN_MS' })
  name!: string;

  @ApiProperty({
    oneOf: [{ type: 'string' }, { type: 'number' }],
    nullable: true,
    description: 'Null when unset, so that the default applies.',
    example: 30000,
  })
  value!: string | number | null;

  @ApiProperty({ enum: CONFIG_SOURCES })
  source!: ConfigSource;

  @ApiProperty({
    description: 'Description in Markdown.',
    example: 'How long a failing route is left alone',
  })
  meaning!: string;

  @ApiProperty({
    type: String,
    nullable: true,
    description: 'Default as a value or a description.',
    example: '10000',
  })
  default!: string | null;
}

/** Effective configuration of the responding instance. */
export class EffectiveConfigDto {
  @ApiProperty({ enum: ['config'] })
  object!: 'config';

  @ApiProperty({ type: Number, nullable: true, example: 7 })
  version!: number | null;

  @ApiProperty({
    description: 'The version, unless variables or files override it here.',
    example: '0f3a9c55d21b',
  })
  fingerprint!: string;

  @ApiProperty({ description: 'Fingerprint of the models and prices.', example: '5b1f00aa3c9e' })
  catalogue_fingerprint!: string;

  @ApiProperty({ description: 'Number of models, including built-in ones.', example: 151 })
  models_count!: number;

  @ApiProperty({ type: [EffectiveModelDto], description: 'Models that are added or overridden.' })
  models!: EffectiveModelDto[];

  @ApiProperty({ type: [EffectiveProviderDto] })
  providers!: EffectiveProviderDto[];

  @ApiProperty({ type: [EffectiveSettingDto] })
  settings!: EffectiveSettingDto[];

  @ApiProperty({ type: [String], description: 'Why providers cannot be called on this instance.' })
  faults!: string[];
}
