import { GatewayError } from '../../platform/errors/gateway-errors.js';
import type { WindowRow } from './log-window.js';
import type { ReplayedCaller, ReplayEnvironment } from './replay-environment.js';

/** The result of a request in a replay. */
export interface ReplayResult {
  readonly row: WindowRow;
  /** 0 for the request itself, otherwise the number of a copy added by `--scale`. */
  readonly copy: number;
  readonly outcome: 'answered' | 'failed' | 'no_credits' | 'too_many';
  /** Error type. Undefined for answers. */
  readonly errorType: string | undefined;
  /** Credits. */
  readonly cost: number;
  readonly vendorCost: number;
  /** Since arrival. Only for answers. */
  readonly firstMs: number | undefined;
  readonly totalMs: number | undefined;
  /** The provider that answered. */
  readonly provider: string | undefined;
  /** False when it was only counted as logged. */
  readonly isPlayed: boolean;
}

/**
 * Returns false for cached answers, crashes, and requests that were refused or failed before a vendor
 * call, except for lack of credits.
 */
export function isPlayable(row: WindowRow, { cachedSheets }: ReplayEnvironment): boolean {
  if (row.priceSheet !== null && cachedSheets.has(row.priceSheet)) return false;
  if (row.outcome === 'refused') return row.errorType === 'insufficient_credits';
  if (row.outcome === 'crashed') return false;
  return row.outcome === 'completed' || row.attempts.length > 0;
}

export function outcomeOf(errorType: string | null): ReplayResult['outcome'] {
  if (errorType === 'insufficient_credits' || errorType === 'budget_exceeded') return 'no_credits';
  return errorType === 'rate_limit_error' ? 'too_many' : 'failed';
}

/** @throws the error itself unless it is a GatewayError */
export function refusalOf(error: unknown): [ReplayResult['outcome'], string] {
  if (!(error instanceof GatewayError)) throw error;
  return [outcomeOf(error.type), error.type];
}

export function refused(
  row: WindowRow,
  copy: number,
  outcome: ReplayResult['outcome'],
  errorType: string,
): ReplayResult {
  return {
    ...{ row, copy, outcome, errorType, cost: 0, vendorCost: 0, isPlayed: true },
    ...{ firstMs: undefined, totalMs: undefined, provider: undefined },
  };
}

/** Returns a caller for a deleted key. */
export function unknownCaller({ tenantId, apiKeyId }: WindowRow): ReplayedCaller {
  return {
    caller: {
      ...{ tenantId, apiKeyId, keyType: 'routing', keyName: '' },
      rateLimitPerMinute: Number.MAX_SAFE_INTEGER,
    },
    subjects: undefined,
  };
}
