import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { ACTOR_KINDS, type ActorKind } from '../../../core/access/caller.js';
import { CursorPageDto } from '../../../platform/http/cursor-page.js';
import type { JsonObject } from '../../../platform/http/json-body.js';

/** Of a field that is described elsewhere. */
export const anyObject = { type: 'object', additionalProperties: true } as const;

class ConfigChangeDto {
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

class ConfigAuthorDto {
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
