import { RequestDetailsDto } from '../../../core/request-log/log-row.dto.js';
import { ApiProperty } from '@nestjs/swagger';
import { IsNotEmpty, IsString } from 'class-validator';

const MESSAGE = 'id is required: one request id, as returned in x-request-id';

export class GenerationQueryDto {
  @ApiProperty({ format: 'uuid', description: '`x-request-id` of an earlier response.' })
  @IsString({ message: MESSAGE })
  @IsNotEmpty({ message: MESSAGE })
  id!: string;
}

/** Usage and cost of a request. Amounts are credits, times are milliseconds. */
export class GenerationRecordDto extends RequestDetailsDto {
  @ApiProperty({ format: 'uuid', description: 'The request id.' })
  id!: string;

  @ApiProperty({
    description: 'Alias that answered, or the first requested one when none did.',
    example: 'openai/gpt-4o-mini',
  })
  model!: string;

  @ApiProperty({ example: 'openai' })
  provider_name!: string;

  @ApiProperty({ type: String, format: 'date-time', description: 'When the request arrived.' })
  created_at!: string;

  @ApiProperty({ type: 'integer', description: 'Billed prompt tokens.', example: 420 })
  tokens_prompt!: number;

  @ApiProperty({ type: 'integer', description: 'Billed output tokens.', example: 96 })
  tokens_completion!: number;

  @ApiProperty({
    description: 'Milliseconds from arrival to the end of the answer.',
    example: 1830,
  })
  latency!: number;

  @ApiProperty({
    description: 'Finish reason; empty when there is none, such as after an error.',
    example: 'stop',
  })
  finish_reason!: string;

  @ApiProperty({ description: 'Credits charged.', example: 121 })
  total_cost!: number;

  @ApiProperty({ type: Boolean, nullable: true, example: true })
  streamed!: boolean | null;

  @ApiProperty({
    type: Boolean,
    nullable: true,
    description: 'Whether the caller disconnected before the end.',
    example: false,
  })
  cancelled!: boolean | null;

  @ApiProperty({
    description: 'Milliseconds from the first content to the end of the answer.',
    example: 1510,
  })
  generation_time!: number;

  @ApiProperty({ description: 'Credits charged, same as `total_cost`.', example: 121 })
  usage!: number;

  @ApiProperty({
    type: 'integer',
    nullable: true,
    description: "The vendor's count; null when not reported.",
    example: 420,
  })
  native_tokens_prompt!: number | null;

  @ApiProperty({
    type: 'integer',
    nullable: true,
    description: "The vendor's count; null when not reported.",
    example: 96,
  })
  native_tokens_completion!: number | null;
}

export class GenerationDto {
  @ApiProperty({ type: GenerationRecordDto })
  data!: GenerationRecordDto;
}

const UNKNOWN = { nullable: true, description: 'Not recorded.', example: null } as const;

const API_TYPES = ['completions', 'embeddings', 'tts', 'stt', 'image'] as const;

/** A generation record with the fields that OpenRouter clients require. */
export class CompatibleGenerationRecordDto extends GenerationRecordDto {
  @ApiProperty({ enum: API_TYPES, nullable: true, description: 'Null for jobs.' })
  api_type!: ApiType | null;

  @ApiProperty({ description: 'Whether it used a BYOK account.', example: false })
  is_byok!: boolean;

  @ApiProperty({ type: 'integer', ...UNKNOWN })
  native_tokens_cached!: null;

  @ApiProperty({ type: 'integer', ...UNKNOWN })
  native_tokens_reasoning!: null;

  @ApiProperty({ format: 'uuid', description: 'Same as `id`.' })
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

export type ApiType = (typeof API_TYPES)[number];
