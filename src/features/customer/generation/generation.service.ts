import { Injectable } from '@nestjs/common';
import type { Caller } from '../../../core/access/caller.js';
import { isUuid } from '../../../platform/database/stored-text.js';
import { NotFoundError } from '../../../platform/errors/gateway-errors.js';
import { toDetails } from '../../../core/request-log/log-rows.js';
import type { RequestLogRow } from '../../../core/request-log/request-log-row.js';
import { RequestLogReader } from '../../../core/request-log/request-log.reader.js';
import type {
  ApiType,
  CompatibleGenerationRecordDto,
  GenerationRecordDto,
} from './generation.dto.js';
const API_TYPES: Readonly<Record<string, ApiType>> = {
  chat: 'completions',
  messages: 'completions',
  responses: 'completions',
  embeddings: 'embeddings',
  'audio.speech': 'tts',
  'audio.transcriptions': 'stt',
  images: 'image',
};

/** Returns usage and cost of a request. */
@Injectable()
export class GenerationService {
  constructor(private readonly requestLog: RequestLogReader) {}

  /** @throws NotFoundError when the tenant has no request with this id */
  async get(caller: Caller, requestId: string): Promise<RequestLogRow> {
    const row = isUuid(requestId)
      ? await this.requestLog.findByRequestId(caller.tenantId, requestId)
      : undefined;
    if (!row) {
      throw new NotFoundError(
        'id',
        'There is no request with this id. Use the `x-request-id` of a completed response.',
      );
    }
    return row;
  }
}

/** Converts a log row to OpenRouter's record. Amounts stay in credits. */
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

/** Converts a log row to the generation record of the interface. */
export function toGenerationRecord(row: RequestLogRow): GenerationRecordDto {
  const isCountedByVendor = row.usageSource === 'upstream';
  return {
    id: row.requestId,
    model: row.model,
    provider_name: row.provider,
    created_at: row.createdAt.toISOString(),
    tokens_prompt: row.promptTokens,
    tokens_completion: row.completionTokens,
    latency: row.latencyMs,
    // The interface does not allow null, and a reason must not be made up.
    finish_reason: row.finishReason ?? '',
    total_cost: row.cost,
    streamed: row.streamed,
    cancelled: row.outcome === 'cancelled',
    generation_time: row.generationTimeMs,
    usage: row.cost,
    native_tokens_prompt: isCountedByVendor ? row.promptTokens : null,
    native_tokens_completion: isCountedByVendor ? row.completionTokens : null,
    ...toDetails(row),
  };
}
