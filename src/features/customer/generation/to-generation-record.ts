import type { RequestLogRow } from '../../../core/ledger/request-log/request-log-row.js';
import type { GenerationRecordDto } from './dto/generation.dto.js';

/** Spells a row of the request log as the interface's generation record. */
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
    // The interface has no null here, and a reason must not be made up.
    finish_reason: row.finishReason ?? '',
    total_cost: row.cost,
    streamed: row.streamed,
    cancelled: row.outcome === 'cancelled',
    generation_time: row.generationTimeMs,
    usage: row.cost,
    native_tokens_prompt: isCountedByVendor ? row.promptTokens : null,
    native_tokens_completion: isCountedByVendor ? row.completionTokens : null,
  };
}
