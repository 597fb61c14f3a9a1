import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { ACTOR_KINDS, type ActorKind } from '../../../core/access/caller.js';
import { CursorPageDto } from '../../../platform/http/cursor-page.js';
import type { JsonObject } from '../../../platform/http/json-body.js';

/** Schema of an object described elsewhere. */
export const anyObject = { type: 'object', additionalProperties: true } as const;

class ConfigChangeDto {
  @ApiProperty({
    description: 'Rows and providers by id.',
    example: 'models/openai/gpt-4o-mini/pricing/completion',
  })
  path!: string;

  @ApiPropertyOptional({ description: 'Absent for an added value.', example: '0.0000006' })
  before?: unknown;

  @ApiPropertyOptional({ description: 'Absent for a removed value.', example: '0.0000009' })
  after?: unknown;
}

class ConfigAuthorDto {
  @ApiProperty({ enum: ACTOR_KINDS, example: 'admin_key' })
  kind!: ActorKind;

  @ApiProperty({ type: String, nullable: true })
  id!: string | null;

  @ApiProperty({ example: 'console' })
  name!: string;
}

/** A version without its content. */
export class ConfigVersionSummaryDto {
  @ApiProperty({ enum: ['config_version'] })
  object!: 'config_version';

  @ApiProperty({ minimum: 1, example: 7 })
  version!: number;

  @ApiProperty({ description: 'Fingerprint of its effect on instances.', example: '0f3a9c55d21b' })
  fingerprint!: string;

  @ApiProperty({ type: ConfigAuthorDto })
  author!: ConfigAuthorDto;

  @ApiProperty({ type: String, nullable: true, example: 'new prices' })
  comment!: string | null;

  @ApiProperty({
    description: 'Number of values that differ from the previous version.',
    example: 1,
  })
  changes!: number;

  @ApiProperty({ type: String, format: 'date-time' })
  created_at!: string;
}

export class ConfigVersionDto extends ConfigVersionSummaryDto {
  @ApiProperty({
    ...anyObject,
    description:
      'In the format of files, ready to be sent again: `models`, `providers` with `api_key_preview` instead of keys, and `settings`.',
  })
  document!: JsonObject;

  @ApiProperty({ type: [ConfigChangeDto], description: 'Changes from the previous version.' })
  diff!: ConfigChangeDto[];
}

export class ChangedConfigDto extends ConfigVersionDto {
  @ApiProperty({
    description: 'False for a dry run, or when nothing differs and the latest version stays.',
    example: true,
  })
  is_stored!: boolean;
}

export class ConfigVersionListDto extends CursorPageDto {
  @ApiProperty({ type: [ConfigVersionSummaryDto], description: 'Newest first.' })
  data!: ConfigVersionSummaryDto[];
}
