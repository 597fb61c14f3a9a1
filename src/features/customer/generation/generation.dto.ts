import { RequestDetailsDto } from '../../../core/request-log/log-row.dto.js';
import {
  BooleanField,
  DateTimeField,
  EnumField,
  IntegerField,
  NumberField,
  SchemaField,
  StringField,
  UuidField,
} from '../../../platform/http/field.decorators.js';
import { ObjectField } from '../../../platform/http/nested-field.decorators.js';

export class GenerationQueryDto {
  @StringField({
    minLength: 1,
    format: 'uuid',
    description: '`x-request-id` of an earlier response.',
    message: 'must be the `x-request-id` of an earlier response',
  })
  id!: string;
}

/** Usage and cost of a request. Amounts are credits, times are milliseconds. */
export class GenerationRecordDto extends RequestDetailsDto {
  @UuidField({ description: 'The request id.' })
  id!: string;

  @StringField({
    description: 'Alias that answered, or the first requested one when none did.',
    example: 'openai/gpt-4o-mini',
  })
  model!: string;

  @StringField({ example: 'openai' })
  provider_name!: string;

  @DateTimeField({ description: 'When the request arrived.' })
  created_at!: string;

  @IntegerField({ description: 'Billed prompt tokens.', example: 420 })
  tokens_prompt!: number;

  @IntegerField({ description: 'Billed output tokens.', example: 96 })
  tokens_completion!: number;

  @NumberField({
    description: 'Milliseconds from arrival to the end of the answer.',
    example: 1830,
  })
  latency!: number;

  @StringField({
    description: 'Finish reason; empty when there is none, such as after an error.',
    example: 'stop',
  })
  finish_reason!: string;

  @NumberField({ description: 'Credits charged.', example: 121 })
  total_cost!: number;

  @BooleanField({ nullable: true, example: true })
  streamed!: boolean | null;

  @BooleanField({
    nullable: true,
    description: 'Whether the caller disconnected before the end.',
    example: false,
  })
  cancelled!: boolean | null;

  @NumberField({
    description: 'Milliseconds from the first content to the end of the answer.',
    example: 1510,
  })
  generation_time!: number;

  @NumberField({ description: 'Credits charged, same as `total_cost`.', example: 121 })
  usage!: number;

  @IntegerField({
    nullable: true,
    description: "The vendor's count; null when not reported.",
    example: 420,
  })
  native_tokens_prompt!: number | null;

  @IntegerField({
    nullable: true,
    description: "The vendor's count; null when not reported.",
    example: 96,
  })
  native_tokens_completion!: number | null;
}

export class GenerationDto {
  @ObjectField(GenerationRecordDto)
  data!: GenerationRecordDto;
}

const UNKNOWN = { nullable: true, description: 'Not recorded.', example: null } as const;

const API_TYPES = ['completions', 'embeddings', 'tts', 'stt', 'image'] as const;

/** A generation record with the fields that OpenRouter clients require. */
export class CompatibleGenerationRecordDto extends GenerationRecordDto {
  @EnumField(API_TYPES, { nullable: true, description: 'Null for jobs.' })
  api_type!: ApiType | null;

  @BooleanField({ description: 'Whether it used a BYOK account.', example: false })
  is_byok!: boolean;

  @IntegerField(UNKNOWN)
  native_tokens_cached!: null;

  @IntegerField(UNKNOWN)
  native_tokens_reasoning!: null;

  @UuidField({ description: 'Same as `id`.' })
  request_id!: string;

  @EnumField(['global'])
  data_region!: 'global';

  @StringField({ description: 'Empty.', example: '' })
  origin!: string;

  @IntegerField(UNKNOWN)
  app_id!: null;

  @NumberField(UNKNOWN)
  cache_discount!: null;

  @StringField(UNKNOWN)
  external_user!: null;

  @StringField(UNKNOWN)
  http_referer!: null;

  @NumberField(UNKNOWN)
  moderation_latency!: null;

  @StringField(UNKNOWN)
  native_finish_reason!: null;

  @IntegerField(UNKNOWN)
  native_tokens_completion_images!: null;

  @IntegerField(UNKNOWN)
  num_fetches!: null;

  @IntegerField(UNKNOWN)
  num_input_audio_prompt!: null;

  @IntegerField(UNKNOWN)
  num_media_completion!: null;

  @IntegerField(UNKNOWN)
  num_media_prompt!: null;

  @IntegerField(UNKNOWN)
  num_search_results!: null;

  @StringField(UNKNOWN)
  preset_id!: null;

  @SchemaField({ type: [Object] }, UNKNOWN)
  provider_responses!: null;

  @StringField(UNKNOWN)
  router!: null;

  @StringField(UNKNOWN)
  service_tier!: null;

  @StringField(UNKNOWN)
  upstream_id!: null;

  @NumberField(UNKNOWN)
  upstream_inference_cost!: null;

  @StringField(UNKNOWN)
  user_agent!: null;

  @StringField(UNKNOWN)
  web_search_engine!: null;

  @StringField(UNKNOWN)
  workspace_id!: null;
}

export class CompatibleGenerationDto {
  @ObjectField(CompatibleGenerationRecordDto)
  data!: CompatibleGenerationRecordDto;
}

export type ApiType = (typeof API_TYPES)[number];
