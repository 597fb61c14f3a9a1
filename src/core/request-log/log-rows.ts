import { toCsv, type CsvValue } from '../../platform/http/csv.js';
import { requestOptionsIn } from './other-usage.js';
import type { RequestLogRow } from './request-log-row.js';
import type { LogRowDto, RequestDetailsDto } from './log-row.dto.js';

/** Columns of the export: the public log row, with nested fields by path. */
const COLUMNS: [string, (row: LogRowDto) => CsvValue][] = [
  ['id', (row) => row.id],
  ['request_id', (row) => row.request_id],
  ['created_at', (row) => row.created_at],
  ['model', (row) => row.model],
  ['provider', (row) => row.provider],
  ['status', (row) => row.status],
  ['traffic_mode', (row) => row.traffic_mode],
  ['tokens_prompt', (row) => row.tokens.prompt],
  ['tokens_completion', (row) => row.tokens.completion],
  ['tokens_total', (row) => row.tokens.total],
  ['cost', (row) => row.cost],
  ['cost_breakdown_model_charge', (row) => row.cost_breakdown.model_charge],
  ['cost_breakdown_byok_platform_fee', (row) => row.cost_breakdown.byok_platform_fee],
  ['cost_breakdown_managed_tool_fee', (row) => row.cost_breakdown.managed_tool_fee],
  ['cost_breakdown_agent_runtime_fee', (row) => row.cost_breakdown.agent_runtime_fee],
  ['cost_breakdown_total_charge', (row) => row.cost_breakdown.total_charge],
  ['skills_used', (row) => row.skills_used.join(' ')],
  ['billing_note', (row) => row.billing_note],
  ['latency_ms', (row) => row.latency_ms],
  ['endpoint', (row) => row.endpoint],
  ['api_key_id', (row) => row.api_key_id],
  ['outcome', (row) => row.outcome],
  ['error_type', (row) => row.error_type],
  ['usage_source', (row) => row.usage_source],
  ['first_token_ms', (row) => row.first_token_ms],
  ['tokens_per_second', (row) => row.tokens_per_second],
  ['vendor_cost', (row) => row.vendor_cost],
  ['attempts', (row) => row.attempts.length],
  ['end_user', (row) => row.end_user],
  [
    'tags',
    (row) =>
      Object.entries(row.tags)
        .map((tag) => tag.join('='))
        .join(';'),
  ],
  ['asked', (row) => row.asked && JSON.stringify(row.asked)],
  ['recovered', (row) => String(row.recovered)],
  ['config_version', (row) => row.config_version],
  // For an ordinary request with one vendor, the other columns say everything.
  ['attempt_list', (row) => (isListed(row) ? JSON.stringify(row.attempts) : null)],
];

function isListed({ attempts: [first, second] }: LogRowDto): boolean {
  return (
    second !== undefined ||
    (first !== undefined && first.outcome !== 'answered') ||
    first?.account !== undefined ||
    first?.scope !== undefined
  );
}

export const LOG_CSV_HEADER = toCsv([COLUMNS.map(([name]) => name)]);

export function toLogCsv(rows: readonly RequestLogRow[]): string {
  return toCsv(rows.map(toLogRow).map((row) => COLUMNS.map(([, read]) => read(row))));
}

/** Converts a row of the request log to the public form. */
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
    ...toDetails(row),
  };
}

/** Returns the details of a row beyond the public fields. */
export function toDetails(row: RequestLogRow): RequestDetailsDto {
  return {
    first_token_ms: row.firstTokenMs,
    tokens_per_second: tokensPerSecond(row),
    vendor_cost: row.vendorCost,
    attempts: [...row.attempts],
    recovered: row.attempts.some(
      ({ continues_at: seam, outcome }) => seam !== undefined && outcome === 'answered',
    ),
    end_user: row.endUser,
    tags: { ...row.tags },
    asked: requestOptionsIn(row.otherUsage) ?? null,
    config_version: row.configVersion,
  };
}

/** Rounds to a tenth; null when the answer came at once, leaving no time to divide by. */
function tokensPerSecond({ streamed, completionTokens, generationTimeMs }: RequestLogRow) {
  if (!streamed || completionTokens === 0 || generationTimeMs === 0) return null;
  return Math.round((completionTokens * 10_000) / generationTimeMs) / 10;
}
