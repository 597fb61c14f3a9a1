import type { RequestLogRow } from '../../../core/ledger/request-log/request-log-row.js';
import type { LogRowDto } from './dto/log-row.dto.js';

/** Spells a row of the request log as the interface does. */
export function toLogRow(row: RequestLogRow): LogRowDto {
  return {
    id: row.id,
    request_id: row.requestId,
    model: row.model,
    provider: row.provider,
    status: row.status,
    traffic_mode: row.trafficMode,
    tokens: {
      prompt: row.promptTokens,
      completion: row.completionTokens,
      total: row.promptTokens + row.completionTokens,
    },
    cost: row.cost,
    cost_breakdown: {
      model_charge: row.modelCharge,
      byok_platform_fee: row.byokPlatformFee,
      managed_tool_fee: row.managedToolFee,
      agent_runtime_fee: row.agentRuntimeFee,
      total_charge: row.cost,
    },
    skills_used: [],
    billing_note: row.billingNote,
    latency_ms: row.latencyMs,
    created_at: row.createdAt.toISOString(),
    endpoint: row.endpoint,
    api_key_id: row.apiKeyId,
    outcome: row.outcome,
    error_type: row.errorType,
    usage_source: row.usageSource,
  };
}
