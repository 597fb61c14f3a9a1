import { CursorPageDto, CursorPageQueryDto } from '../../../platform/http/cursor-page.js';
import {
  BooleanField,
  EnumField,
  MapField,
  NumberField,
  SchemaField,
  StringField,
} from '../../../platform/http/field.decorators.js';
import {
  ObjectListField,
  StringListField,
} from '../../../platform/http/nested-field.decorators.js';
import { MODEL_KINDS, type ModelKind } from '../../../core/catalogue/catalogue.types.js';
import type { JsonObject } from '../../../platform/http/json-body.js';

/** Sources of configuration values. */
const CONFIG_SOURCES = ['version', 'file', 'variable', 'default'] as const;
type ConfigSource = (typeof CONFIG_SOURCES)[number];

export class EffectiveModelDto {
  @StringField({ example: 'openai/gpt-4o-mini' })
  id!: string;

  @EnumField(CONFIG_SOURCES, { description: '`file`: from `GATEWAY_CATALOGUE`.' })
  source!: ConfigSource;

  @BooleanField({
    description: 'Whether a file on this instance overrides the version for this model.',
    example: false,
  })
  is_overridden!: boolean;

  @MapField(true, { description: 'The row that overrides the built-in one.' })
  row!: JsonObject;
}

/** A model with its effective prices. */
class PricedModelDto {
  @StringField({ description: 'A family ends in `*`.', example: 'openai/gpt-4o-mini' })
  id!: string;

  @EnumField(MODEL_KINDS)
  kind!: ModelKind;

  @EnumField(CONFIG_SOURCES, { description: '`default`: built in.' })
  source!: ConfigSource;

  @BooleanField({
    description: 'Whether a file on this instance overrides the version for this model.',
    example: false,
  })
  is_overridden!: boolean;

  @MapField(
    { type: 'string' },
    {
      description: 'USD per token, request or image.',
      example: { prompt: '0.00000015', completion: '0.0000006' },
    },
  )
  pricing!: Record<string, string>;
}

export class PricedModelListDto extends CursorPageDto {
  @ObjectListField(PricedModelDto, { description: 'Sorted by id.' })
  data!: PricedModelDto[];
}

export class PricedModelQueryDto extends CursorPageQueryDto {
  @StringField({
    optional: true,
    description: 'Case-insensitive part of the id.',
    example: 'echo',
    message: 'must be a single string',
  })
  search?: string;
}

export class EffectiveProviderDto {
  @StringField({ example: 'local' })
  id!: string;

  @StringField({ example: 'Our own server' })
  name!: string;

  @StringField({ example: 'http://10.0.0.7:8000/v1' })
  base_url!: string;

  @EnumField(CONFIG_SOURCES, {
    description:
      '`file`: from `GATEWAY_PROVIDERS`. `variable`: a vendor account configured by variables.',
  })
  source!: ConfigSource;

  @StringField({
    nullable: true,
    description: 'First and last characters of a key stored in a version.',
    example: 'sk-1...a9f2',
  })
  api_key_preview!: string | null;

  @BooleanField({ description: 'Whether this instance can call it.', example: true })
  is_callable!: boolean;
}

export class EffectiveSettingDto {
  @StringField({ example: 'GATEWAY_COOLDOWN_MS' })
  name!: string;

  @SchemaField(
    { oneOf: [{ type: 'string' }, { type: 'number' }] },
    {
      nullable: true,
      description: 'Null when unset, so that the default applies.',
      example: 30000,
    },
  )
  value!: string | number | null;

  @EnumField(CONFIG_SOURCES)
  source!: ConfigSource;

  @StringField({
    description: 'Description in Markdown.',
    example: 'How long a failing route is left alone',
  })
  meaning!: string;

  @StringField({
    nullable: true,
    description: 'Default as a value or a description.',
    example: '10000',
  })
  default!: string | null;
}

/** Effective configuration of the responding instance. */
export class EffectiveConfigDto {
  @EnumField(['config'])
  object!: 'config';

  @NumberField({ nullable: true, example: 7 })
  version!: number | null;

  @StringField({
    description: 'The version, unless variables or files override it here.',
    example: '0f3a9c55d21b',
  })
  fingerprint!: string;

  @StringField({ description: 'Fingerprint of the models and prices.', example: '5b1f00aa3c9e' })
  catalogue_fingerprint!: string;

  @NumberField({ description: 'Number of models, including built-in ones.', example: 151 })
  models_count!: number;

  @ObjectListField(EffectiveModelDto, { description: 'Models that are added or overridden.' })
  models!: EffectiveModelDto[];

  @ObjectListField(EffectiveProviderDto)
  providers!: EffectiveProviderDto[];

  @ObjectListField(EffectiveSettingDto)
  settings!: EffectiveSettingDto[];

  @StringListField({ description: 'Why providers cannot be called on this instance.' })
  faults!: string[];
}
