import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { IsOptional, IsString } from 'class-validator';
import { MODEL_KINDS, type ModelKind } from '../../../core/catalogue/catalogue.types.js';
import { CursorPageDto, CursorPageQueryDto } from '../../../platform/http/cursor-page.js';
import type { JsonObject } from '../../../platform/http/json-body.js';
import { anyObject } from './config.dto.js';

/** Where a value comes from. */
const CONFIG_SOURCES = ['version', 'file', 'variable', 'default'] as const;
type ConfigSource = (typeof CONFIG_SOURCES)[number];

export class EffectiveModelDto {
  @ApiProperty({ example: 'openai/gpt-4o-mini' })
  id!: string;

  @ApiProperty({ enum: CONFIG_SOURCES, description: '`file`: of `GATEWAY_CATALOGUE`.' })
  source!: ConfigSource;

  @ApiProperty({
    description: 'Whether a file makes the model other than the version has it, on this instance.',
    example: false,
  })
  is_overridden!: boolean;

  @ApiProperty({ ...anyObject, description: 'The row over the built-in one.' })
  row!: JsonObject;
}

/** A model with the prices by which its requests are charged. */
class PricedModelDto {
  @ApiProperty({ description: 'A family ends in `*`.', example: 'openai/gpt-4o-mini' })
  id!: string;

  @ApiProperty({ enum: MODEL_KINDS })
  kind!: ModelKind;

  @ApiProperty({ enum: CONFIG_SOURCES, description: '`default`: built in.' })
  source!: ConfigSource;

  @ApiProperty({
    description: 'Whether a file makes the model other than the version has it, on this instance.',
    example: false,
  })
  is_overridden!: boolean;

  @ApiProperty({
    type: 'object',
    additionalProperties: { type: 'string' },
    description: 'USD for one: a token, a request, an image.',
    example: { prompt: '0.00000015', completion: '0.0000006' },
  })
  pricing!: Record<string, string>;
}

export class PricedModelListDto extends CursorPageDto {
  @ApiProperty({ type: [PricedModelDto], description: 'By their ids.' })
  data!: PricedModelDto[];
}

export class PricedModelQueryDto extends CursorPageQueryDto {
  @ApiPropertyOptional({ description: 'A part of the id, in whatever case.', example: 'echo' })
  @IsOptional()
  @IsString({ message: 'search must be one text' })
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
      '`file`: of `GATEWAY_PROVIDERS`. `variable`: an account of a vendor by its variables.',
  })
  source!: ConfigSource;

  @ApiProperty({
    type: String,
    nullable: true,
    description: 'The ends of a key that a version holds.',
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
    description: 'Null where nobody has set it, so that the default holds.',
    example: 30000,
  })
  value!: string | number | null;

  @ApiProperty({ enum: CONFIG_SOURCES })
  source!: ConfigSource;

  @ApiProperty({
    description: 'What it means, in Markdown.',
    example: 'How long a failing route is left alone',
  })
  meaning!: string;

  @ApiProperty({
    type: String,
    nullable: true,
    description: 'What holds where nobody has set it, as a value or in words.',
    example: '10000',
  })
  default!: string | null;
}

/** What the instance that answers works by. */
export class EffectiveConfigDto {
  @ApiProperty({ enum: ['config'] })
  object!: 'config';

  @ApiProperty({ type: Number, nullable: true, example: 7 })
  version!: number | null;

  @ApiProperty({
    description: "The version's, unless variables or files come before it here.",
    example: '0f3a9c55d21b',
  })
  fingerprint!: string;

  @ApiProperty({ description: 'Of the models with their prices.', example: '5b1f00aa3c9e' })
  catalogue_fingerprint!: string;

  @ApiProperty({ description: 'All models, the built-in ones included.', example: 151 })
  models_count!: number;

  @ApiProperty({ type: [EffectiveModelDto], description: 'Those that are not only built in.' })
  models!: EffectiveModelDto[];

  @ApiProperty({ type: [EffectiveProviderDto] })
  providers!: EffectiveProviderDto[];

  @ApiProperty({ type: [EffectiveSettingDto] })
  settings!: EffectiveSettingDto[];

  @ApiProperty({ type: [String], description: 'Why providers cannot be called here.' })
  faults!: string[];
}
