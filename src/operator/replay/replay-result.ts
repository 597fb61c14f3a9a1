import { GatewayError } from '../../platform/errors/gateway-errors.js';
import type { WindowRow } from './log-window.js';
import type { ReplayedCaller, ReplayWorld } from './replay-environment.js';

/** What became of a request in a replay. */
export interface ReplayResult {
  readonly row: WindowRow;
  /** 0: the request itself; others are those that come with more traffic. */
  readonly copy: number;
  readonly outcome: 'answered' | 'failed' | 'no_credits' | 'too_many';
  /** Of the error; undefined: there is an answer. */
  readonly errorType: string | undefined;
  /** Credits. */
  readonly cost: number;
  readonly vendorCost: number;
  /** From the arrival; of answers. */
  readonly firstMs: number | undefined;
  readonly totalMs: number | undefined;
  /** Who answered. */
  readonly provider: string | undefined;
  /** False: it was only counted as the log has it. */
  readonly isPlayed: boolean;
}

/** Kept answers, crashes, and what was refused or failed before a vendor was asked, for other reasons than credits. */
export function isPlayable(row: WindowRow, { cachedSheets }: ReplayWorld): boolean {
  if (row.priceSheet !== null && cachedSheets.has(row.priceSheet)) return false;
  if (row.outcome === 'refused') return row.errorType === 'insufficient_credits';
  if (row.outcome === 'crashed') return false;
  return row.outcome === 'completed' || row.attempts.length > 0;
}

export function outcomeOf(errorType: string | null): ReplayResult['outcome'] {
  if (errorType === 'insufficient_credits' || errorType === 'budget_exceeded') return 'no_credits';
  return errorType === 'rate_limit_error' ? 'too_many' : 'failed';
}

/** @throws whatever is no error for a caller */
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

/** Of a key that is gone. */
export function unknownCaller({ tenantId, apiKeyId }: WindowRow): ReplayedCaller {
  return {
    caller: {
      ...{ tenantId, apiKeyId, keyType: 'routing', keyName: '' },
      rateLimitPerMinute: Number.MAX_SAFE_INTEGER,
    },
    subjects: undefined,
  };
}
