import { ApiProperty } from '@nestjs/swagger';
import { GenerationRecordDto } from './generation.dto.js';

const UNKNOWN = { nullable: true, description: 'Not kept here.', example: null } as const;
const API_TYPES = ['completions', 'embeddings', 'tts', 'stt', 'image'] as const;

export type ApiType = (typeof API_TYPES)[number];

/** A generation record with all that clients of OpenRouter's API insist on. */
export class CompatibleGenerationRecordDto extends GenerationRecordDto {
  @ApiProperty({ enum: API_TYPES, nullable: true, description: 'Null for jobs.' })
  api_type!: ApiType | null;

  @ApiProperty({ description: 'Whether it went over an account of the tenant.', example: false })
  is_byok!: boolean;

  @ApiProperty({ type: 'integer', ...UNKNOWN })
  native_tokens_cached!: null;

  @ApiProperty({ type: 'integer', ...UNKNOWN })
  native_tokens_reasoning!: null;

  @ApiProperty({ format: 'uuid', description: 'As `id`.' })
  request_id!: string;

  @ApiProperty({ enum: ['global'] })
  data_region!: 'global';

  @ApiProperty({ description: 'Empty.', example: '' })
  origin!: string;

  @ApiProperty({ type: 'integer', ...UNKNOWN })
  app_id!: null;

  @ApiProperty({ type: Number, ...UNKNOWN })
  cache_discount!: null;

  @ApiProperty({ type: String, ...UNKNOWN })
  external_user!: null;

  @ApiProperty({ type: String, ...UNKNOWN })
  http_referer!: null;

  @ApiProperty({ type: Number, ...UNKNOWN })
  moderation_latency!: null;

  @ApiProperty({ type: String, ...UNKNOWN })
  native_finish_reason!: null;

  @ApiProperty({ type: 'integer', ...UNKNOWN })
  native_tokens_completion_images!: null;

  @ApiProperty({ type: 'integer', ...UNKNOWN })
  num_fetches!: null;

  @ApiProperty({ type: 'integer', ...UNKNOWN })
  num_input_audio_prompt!: null;

  @ApiProperty({ type: 'integer', ...UNKNOWN })
  num_media_completion!: null;

  @ApiProperty({ type: 'integer', ...UNKNOWN })
  num_media_prompt!: null;

  @ApiProperty({ type: 'integer', ...UNKNOWN })
  num_search_results!: null;

  @ApiProperty({ type: String, ...UNKNOWN })
  preset_id!: null;

  @ApiProperty({ type: [Object], ...UNKNOWN })
  provider_responses!: null;

  @ApiProperty({ type: String, ...UNKNOWN })
  router!: null;

  @ApiProperty({ type: String, ...UNKNOWN })
  service_tier!: null;

  @ApiProperty({ type: String, ...UNKNOWN })
  upstream_id!: null;

  @ApiProperty({ type: Number, ...UNKNOWN })
  upstream_inference_cost!: null;

  @ApiProperty({ type: String, ...UNKNOWN })
  user_agent!: null;

  @ApiProperty({ type: String, ...UNKNOWN })
  web_search_engine!: null;

  @ApiProperty({ type: String, ...UNKNOWN })
  workspace_id!: null;
}

export class CompatibleGenerationDto {
  @ApiProperty({ type: CompatibleGenerationRecordDto })
  data!: CompatibleGenerationRecordDto;
}
