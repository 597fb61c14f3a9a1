import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import {
  IsBoolean,
  IsInt,
  IsObject,
  IsOptional,
  IsString,
  Length,
  Max,
  Min,
} from 'class-validator';
import { ACTOR_KINDS, type ActorKind } from '../../../core/access/caller.js';
import { MODEL_KINDS, type ModelKind } from '../../../core/catalogue/catalogue.types.js';
import { CursorPageDto, CursorPageQueryDto } from '../../../platform/http/cursor-page.js';
import type { JsonObject } from '../../../platform/http/json-body.js';
import { MayBeAbsent } from '../../../platform/http/field.decorators.js';

const MAX_NUMBER = 2 ** 31 - 1;

/** Where a value comes from. */
export const CONFIG_SOURCES = ['version', 'file', 'variable', 'default'] as const;
type ConfigSource = (typeof CONFIG_SOURCES)[number];

const anyObject = { type: 'object', additionalProperties: true } as const;

export class ConfigChangeDto {
  @ApiProperty({
    description: 'Rows and providers by their ids.',
    example: 'models/openai/gpt-4o-mini/pricing/completion',
  })
  path!: string;

  @ApiPropertyOptional({ description: 'Absent where there was nothing.', example: '0.0000006' })
  before?: unknown;

  @ApiPropertyOptional({ description: 'Absent where nothing is left.', example: '0.0000009' })
  after?: unknown;
}

export class ConfigAuthorDto {
  @ApiProperty({ enum: ACTOR_KINDS, example: 'admin_key' })
  kind!: ActorKind;

  @ApiProperty({ type: String, nullable: true })
  id!: string | null;

  @ApiProperty({ example: 'console' })
  name!: string;
}

/** A version without what is in it. */
export class ConfigVersionSummaryDto {
  @ApiProperty({ enum: ['config_version'] })
  object!: 'config_version';

  @ApiProperty({ minimum: 1, example: 7 })
  version!: number;

  @ApiProperty({ description: 'Of all that it makes instances do.', example: '0f3a9c55d21b' })
  fingerprint!: string;

  @ApiProperty({ type: ConfigAuthorDto })
  author!: ConfigAuthorDto;

  @ApiProperty({ type: String, nullable: true, example: 'new prices' })
  comment!: string | null;

  @ApiProperty({ description: 'How many values differ from the version before.', example: 1 })
  changes!: number;

  @ApiProperty({ type: String, format: 'date-time' })
  created_at!: string;
}

export class ConfigVersionDto extends ConfigVersionSummaryDto {
  @ApiProperty({
    ...anyObject,
    description:
      'As a file has it and as it can be sent again: `models`, `providers` with an `api_key_preview` in place of their keys, and `settings`.',
  })
  document!: JsonObject;

  @ApiProperty({ type: [ConfigChangeDto], description: 'From the version before.' })
  diff!: ConfigChangeDto[];
}

export class ChangedConfigDto extends ConfigVersionDto {
  @ApiProperty({
    description: 'False where nothing differs, so that the latest version stays; or for a dry run.',
    example: true,
  })
  is_stored!: boolean;
}

export class ConfigVersionListDto extends CursorPageDto {
  @ApiProperty({ type: [ConfigVersionSummaryDto], description: 'The latest first.' })
  data!: ConfigVersionSummaryDto[];
}

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
export class PricedModelDto {
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
