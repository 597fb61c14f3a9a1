import { toStoredText, isUuid } from '../../platform/database/stored-text.js';
import type { RequestTags } from '../../canonical/request-tags.js';
import type {
  LoggedAttempt,
  RequestLogDraft,
  RequestOutcome,
} from '../request-log/request-log-row.js';
import { isAmount, type PayableCharge } from './pricing.js';
import type { HoldEntry } from './ledger-entry.js';
import { otherUsageText } from '../request-log/other-usage.js';
import { priceSnapshotOf } from './receipts/price-snapshot.js';

const INT4_MAX = 2 ** 31 - 1;

const NIL_UUID = '00000000-0000-0000-0000-000000000000';

const OUTCOMES: ReadonlySet<RequestOutcome> = new Set([
  'completed',
  'failed',
  'cancelled',
  'timeout',
  'crashed',
  'refused',
]);

/** A `request_logs` row as the settling statement takes it; `status` and `cost` are derived from it. */
export interface LogRow {
  request_id: string;
  tenant_id: string;
  api_key_id: string;
  endpoint: string;
  model: string;
  provider: string;
  outcome: string;
  error_type: string | null;
  finish_reason: string | null;
  traffic_mode: string;
  prompt_tokens: number;
  completion_tokens: number;
  cache_read_tokens: number;
  cache_write_tokens: number;
  reasoning_tokens: number;
  usage_source: string;
  model_charge: number;
  byok_platform_fee: number;
  managed_tool_fee: number;
  shortfall: number;
  billing_note: string | null;
  streamed: boolean;
  flagged: boolean;
  latency_ms: number;
  generation_time_ms: number;
  first_token_ms: number | undefined;
  vendor_cost: number;
  vendor_started_ms: number | undefined;
  attempts: readonly LoggedAttempt[] | undefined;
  end_user: string | undefined;
  tags: RequestTags | undefined;
  created_at: Date;
  price_sheet: string | null;
  other_usage: string | null;
  config_version: number | undefined;
}

/** Returns a log row with the paid and unpaid parts of its charge. */
export function toLogRow(log: RequestLogDraft, payable: PayableCharge): LogRow {
  return {
    request_id: log.requestId,
    tenant_id: log.tenantId,
    api_key_id: log.apiKeyId,
    endpoint: toStoredText(log.endpoint),
    model: toStoredText(log.model),
    provider: toStoredText(log.provider),
    outcome: log.outcome,
    error_type: toNullableText(log.errorType),
    finish_reason: toNullableText(log.finishReason),
    traffic_mode: log.trafficMode,
    prompt_tokens: toInt4(log.usage.inputTokens),
    completion_tokens: toInt4(log.usage.outputTokens),
    cache_read_tokens: toInt4(log.usage.cacheReadTokens),
    cache_write_tokens: toInt4(log.usage.cacheWriteTokens),
    reasoning_tokens: toInt4(log.usage.reasoningTokens),
    usage_source: log.usageSource,
    model_charge: payable.charge.modelCharge,
    byok_platform_fee: payable.charge.byokPlatformFee,
    managed_tool_fee: payable.charge.managedToolFee,
    shortfall: payable.shortfall,
    billing_note: toNullableText(log.billingNote),
    streamed: log.streamed,
    flagged: log.flagged ?? false,
    latency_ms: toInt4(log.latencyMs),
    generation_time_ms: toInt4(log.generationTimeMs),
    // Undefined values are omitted from the JSON and become NULL.
    first_token_ms: toOptionalInt4(log.firstTokenMs),
    vendor_cost: toAmount(log.vendorCost ?? 0),
    vendor_started_ms: toOptionalInt4(log.vendorStartedMs),
    attempts: log.attempts?.map(toStoredAttempt),
    end_user: log.endUser === undefined ? undefined : toStoredText(log.endUser),
    tags: log.tags,
    created_at: log.createdAt,
    price_sheet: log.billedBy ? priceSnapshotOf(log.billedBy).id : null,
    other_usage: otherUsageText(log.usage, log.requestOptions),
    config_version: log.configVersion ?? undefined,
  };
}

/**
 * Returns the draft without anything that a column could reject, except its two ids, for the last
 * attempt to store it. A row without texts is better than none, and its hold must end.
 */
export function blankLog(log: RequestLogDraft): RequestLogDraft {
  return {
    ...log,
    apiKeyId: isUuid(log.apiKeyId) ? log.apiKeyId : NIL_UUID,
    endpoint: '',
    model: '',
    provider: '',
    outcome: OUTCOMES.has(log.outcome) ? log.outcome : 'failed',
    errorType: null,
    finishReason: null,
    trafficMode: log.trafficMode === 'byok' ? 'byok' : 'shared',
    usageSource:
      log.usageSource === 'upstream' || log.usageSource === 'estimated' ? log.usageSource : 'none',
    billingNote: null,
    attempts: undefined,
    endUser: undefined,
    tags: undefined,
    requestOptions: undefined,
    streamed: Boolean(log.streamed),
    createdAt: isPlausible(log.createdAt) ? log.createdAt : new Date(),
  };
}

/** Converts a count to PostgreSQL's `integer`: whole, from 0 to 2^31 − 1; NaN becomes 0. */
function toInt4(value: number): number {
  return value > 0 ? Math.min(Math.trunc(value), INT4_MAX) : 0;
}

function toOptionalInt4(value: number | undefined): number | undefined {
  return value === undefined ? undefined : toInt4(value);
}

function toAmount(value: number): number {
  return isAmount(value) ? value : 0;
}

function toStoredAttempt(attempt: LoggedAttempt): LoggedAttempt {
  return {
    route: toStoredText(attempt.route),
    // Account ids contain only characters that can be stored.
    ...(attempt.account !== undefined && { account: attempt.account }),
    ...(attempt.scope && { scope: attempt.scope }),
    outcome: toStoredText(attempt.outcome),
    status: attempt.status,
    started_ms: toInt4(attempt.started_ms),
    duration_ms: toInt4(attempt.duration_ms),
    ...(attempt.continues_at !== undefined && { continues_at: toInt4(attempt.continues_at) }),
    ...(attempt.hedged && { hedged: true }),
    vendor_cost: toAmount(attempt.vendor_cost),
  };
}

function toNullableText(text: string | null): string | null {
  return text === null ? null : toStoredText(text);
}

function isPlausible(date: Date): boolean {
  const time = date.getTime();
  return time >= 0 && time < Date.UTC(10_000, 0);
}

/** Returns a `holds` row as the opening statements take it. */
export function toHoldRow({ operation, granted = operation.amount }: HoldEntry) {
  return {
    request_id: operation.requestId,
    tenant_id: operation.tenantId,
    amount: granted,
    api_key_id: operation.apiKeyId,
    endpoint: toStoredText(operation.endpoint),
    model: toStoredText(operation.model),
    provider: toStoredText(operation.provider),
    streamed: operation.streamed,
    created_at: operation.createdAt,
  };
}

/** Returns the row for statements that decide the amount themselves; `place` keeps the order. */
export function toRangeRow(entry: HoldEntry, place: number) {
  const { amount, range } = entry.operation;
  return {
    ...toHoldRow(entry),
    amount,
    place,
    most: range?.most ?? amount,
    base: range?.base ?? 0,
  };
}
