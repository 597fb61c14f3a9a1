import { ACTOR_KINDS, type ActorKind } from '../../../core/access/caller.js';
import { CursorPageDto } from '../../../platform/http/cursor-page.js';
import {
  BooleanField,
  DateTimeField,
  EnumField,
  MapField,
  NumberField,
  SchemaField,
  StringField,
} from '../../../platform/http/field.decorators.js';
import { ObjectField, ObjectListField } from '../../../platform/http/nested-field.decorators.js';
import type { JsonObject } from '../../../platform/http/json-body.js';

class ConfigChangeDto {
  @StringField({
    description: 'Rows and providers by id.',
    example: 'models/openai/gpt-4o-mini/pricing/completion',
  })
  path!: string;

  @SchemaField(
    {},
    { optional: true, description: 'Absent for an added value.', example: '0.0000006' },
  )
  before?: unknown;

  @SchemaField(
    {},
    { optional: true, description: 'Absent for a removed value.', example: '0.0000009' },
  )
  after?: unknown;
}

class ConfigAuthorDto {
  @EnumField(ACTOR_KINDS, { example: 'admin_key' })
  kind!: ActorKind;

  @StringField({ nullable: true })
  id!: string | null;

  @StringField({ example: 'console' })
  name!: string;
}

/** A version without its content. */
export class ConfigVersionSummaryDto {
  @EnumField(['config_version'])
  object!: 'config_version';

  @NumberField({ minimum: 1, example: 7 })
  version!: number;

  @StringField({ description: 'Fingerprint of its effect on instances.', example: '0f3a9c55d21b' })
  fingerprint!: string;

  @ObjectField(ConfigAuthorDto)
  author!: ConfigAuthorDto;

  @StringField({ nullable: true, example: 'new prices' })
  comment!: string | null;

  @NumberField({
    description: 'Number of values that differ from the previous version.',
    example: 1,
  })
  changes!: number;

  @DateTimeField()
  created_at!: string;
}

export class ConfigVersionDto extends ConfigVersionSummaryDto {
  @MapField(true, {
    description:
      'In the format of files, ready to be sent again: `models`, `providers` with `api_key_preview` instead of keys, and `settings`.',
  })
  document!: JsonObject;

  @ObjectListField(ConfigChangeDto, { description: 'Changes from the previous version.' })
  diff!: ConfigChangeDto[];
}

export class ChangedConfigDto extends ConfigVersionDto {
  @BooleanField({
    description: 'False for a dry run, or when nothing differs and the latest version stays.',
    example: true,
  })
  is_stored!: boolean;
}

export class ConfigVersionListDto extends CursorPageDto {
  @ObjectListField(ConfigVersionSummaryDto, { description: 'Newest first.' })
  data!: ConfigVersionSummaryDto[];
}
