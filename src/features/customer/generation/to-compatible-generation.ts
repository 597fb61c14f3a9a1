import type { RequestLogRow } from '../../../core/ledger/request-log/request-log-row.js';
import type { ApiType, CompatibleGenerationRecordDto } from './dto/compatible-generation.dto.js';
import { toGenerationRecord } from './to-generation-record.js';

const API_TYPES: Readonly<Record<string, ApiType>> = {
  chat: 'completions',
  messages: 'completions',
  responses: 'completions',
  embeddings: 'embeddings',
  'audio.speech': 'tts',
  'audio.transcriptions': 'stt',
  images: 'image',
};

/** Spells a row of the request log as clients of OpenRouter's API read it; amounts stay credits. */
export function toCompatibleGeneration(row: RequestLogRow): CompatibleGenerationRecordDto {
  return {
    ...toGenerationRecord(row),
    api_type: API_TYPES[row.endpoint] ?? null,
    is_byok: row.trafficMode === 'byok',
    native_tokens_cached: null,
    native_tokens_reasoning: null,
    request_id: row.requestId,
    data_region: 'global',
    origin: '',
    app_id: null,
    cache_discount: null,
    external_user: null,
    http_referer: null,
    moderation_latency: null,
    native_finish_reason: null,
    native_tokens_completion_images: null,
    num_fetches: null,
    num_input_audio_prompt: null,
    num_media_completion: null,
    num_media_prompt: null,
    num_search_results: null,
    preset_id: null,
    provider_responses: null,
    router: null,
    service_tier: null,
    upstream_id: null,
    upstream_inference_cost: null,
    user_agent: null,
    web_search_engine: null,
    workspace_id: null,
  };
}
