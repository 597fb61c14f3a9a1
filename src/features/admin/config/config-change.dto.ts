import {
  BooleanField,
  IntegerField,
  MapField,
  StringField,
} from '../../../platform/http/field.decorators.js';
import type { JsonObject } from '../../../platform/http/json-body.js';

const MAX_NUMBER = 2 ** 31 - 1;

/** Options of a configuration change. */
export class ConfigChangeOptionsDto {
  @StringField({ optional: true, minLength: 1, maxLength: 1000, example: 'new prices' })
  comment?: string;

  @IntegerField({
    optional: true,
    minimum: 0,
    maximum: MAX_NUMBER,
    description: 'The latest version you know. Nothing changes if there is a newer one.',
    example: 6,
  })
  expected_version?: number;

  @BooleanField({
    nullable: true,
    default: false,
    description: 'Validate without storing anything.',
  })
  dry_run?: boolean | null;
}

export class MakeConfigVersionDto extends ConfigChangeOptionsDto {
  @MapField(true, {
    description:
      'The complete configuration: `models` in the format of catalogue files, `providers` in the format of provider files plus optional `api_key`, and `settings` by variable name. Anything missing is removed.',
  })
  document!: JsonObject;
}

export class RollBackConfigDto extends ConfigChangeOptionsDto {
  @IntegerField({ minimum: 1, maximum: MAX_NUMBER, description: 'Version to restore.', example: 5 })
  version!: number;
}

export class PutConfigModelDto extends ConfigChangeOptionsDto {
  @MapField(true, {
    description:
      'Fields of the model\'s row to replace. Prices are replaced one by one. `{"removed": true}` removes the model.',
    example: { pricing: { completion: '0.0000009' } },
  })
  row!: JsonObject;
}

export class TestConfigProviderDto {
  @MapField(true, {
    optional: true,
    nullable: true,
    description: 'The complete entry to test, without `id`. Defaults to the current one.',
    example: { name: 'Our own server', base_url: 'http://10.0.0.7:8000/v1', api_key: 'sk-…' },
  })
  provider?: JsonObject | null;
}

export class PutConfigProviderDto extends ConfigChangeOptionsDto {
  @MapField(true, {
    description:
      'The complete entry without `id`. Without `api_key` the stored key stays if `base_url` is the same; null removes it.',
    example: { name: 'Our own server', base_url: 'http://10.0.0.7:8000/v1', api_key: 'sk-…' },
  })
  provider!: JsonObject;
}
