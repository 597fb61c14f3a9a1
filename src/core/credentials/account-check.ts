import { UpstreamError } from '../../vendors/upstream-error.js';
import type { Upstream } from '../../vendors/upstream.js';

const LIMIT_MS = 10_000;

/**
 * Outcome of a check: the vendor accepts the key, rejects it, or gave no usable answer.
 * `unchecked`: it offers no free call to check it.
 */
export const CHECK_OUTCOMES = ['ok', 'refused', 'unreachable', 'unchecked'] as const;
export type CheckOutcome = (typeof CHECK_OUTCOMES)[number];

/** Result of checking an account with one free call. */
export interface AccountCheck {
  readonly outcome: CheckOutcome;
  /** Status of the rejection; null without an answer or after success. */
  readonly status: number | null;
  /** Describes the problem and the fix, for the owner of the key. */
  readonly message: string;
  /** Null when the vendor lists none, or the check failed. */
  readonly modelsSeen: number | null;
  /** Model ids as routes name them; null when unknown. */
  readonly modelIds: readonly string[] | null;
  readonly latencyMs: number;
}

/** The account to check. */
interface CheckedAccount {
  /** The provider's display name. */
  readonly name: string;
  /** True when there is a key that the vendor could reject. */
  readonly hasKey: boolean;
}

/**
 * Checks an account with one call, which lists models or reads a balance. Takes at most 10 s.
 *
 * @param stop ends the check early, as if the vendor had not answered
 */
export async function checkAccount(
  upstream: Upstream,
  { name, hasKey }: CheckedAccount,
  stop?: AbortSignal,
): Promise<AccountCheck> {
  const limits = { firstByteMs: LIMIT_MS, idleMs: LIMIT_MS, requestMs: LIMIT_MS };
  const time = AbortSignal.timeout(LIMIT_MS);
  const signal = stop ? AbortSignal.any([time, stop]) : time;
  const startedMs = performance.now();
  const took = (): number => Math.round(performance.now() - startedMs);
  try {
    const probed = await upstream.probe({ limits, signal, readsAnswer: true });
    const seen = typeof probed === 'object' ? probed.length : (probed ?? null);
    const listed = seen === null ? '' : ` It lists ${seen} model${seen === 1 ? '' : 's'}.`;
    const isUnchecked = hasKey && upstream.keyIs === 'unproven';
    return {
      outcome: isUnchecked ? 'unchecked' : 'ok',
      status: null,
      message: isUnchecked
        ? `${name} answers, but has no free call that checks a key.${listed}`
        : `${name} ${hasKey ? 'takes the key' : 'answers'}.${listed}`,
      modelsSeen: seen,
      modelIds: typeof probed === 'object' ? probed : null,
      latencyMs: took(),
    };
  } catch (error) {
    if (!(error instanceof UpstreamError) && !signal.aborted) throw error;
    const failure = signal.aborted || !(error instanceof UpstreamError) ? 'timeout' : error.failure;
    const status = error instanceof UpstreamError ? (error.status ?? null) : null;
    const isRefused = isRefusal(failure, status);
    return {
      outcome: isRefused ? 'refused' : 'unreachable',
      status,
      message: isRefused ? refusalOf(name, status) : messageOf(name, failure, status),
      modelsSeen: null,
      modelIds: null,
      latencyMs: took(),
    };
  }
}

/** Returns whether the check found no problem. */
export function isWell({ outcome }: AccountCheck): boolean {
  return outcome === 'ok' || outcome === 'unchecked';
}

/** Some vendors reject a key with 400, and a failed token exchange has no status. */
function isRefusal(failure: UpstreamError['failure'], status: number | null): boolean {
  if (status === 401 || status === 402 || status === 403) return true;
  return failure === 'operator' && (status === null || status === 400 || status === 429);
}

/** In our own words, because the vendor's message may contain the key. */
function refusalOf(name: string, status: number | null): string {
  const code = status === null ? '' : ` (${status})`;
  return status === 402 || status === 429
    ? `${name} says that nothing is left to spend${code}. Look at the account's credit and limits.`
    : `${name} refuses the key${code}. Check that it is complete, active, and of this account.`;
}

function messageOf(name: string, failure: UpstreamError['failure'], status: number | null): string {
  switch (failure) {
    case 'connect':
      return `No connection to ${name} could be established. Check the address, and whether this machine can reach it.`;
    case 'timeout':
      return `${name} did not answer within ${LIMIT_MS / 1_000} s. Check the address, or try again.`;
    case 'unreadable':
    case 'cut':
      return `The server at the address of ${name} does not speak its API. Check the address, including /v1 at the end.`;
    case 'rate_limited':
      return `${name} asks for fewer calls${status === null ? '' : ` (${status})`}. The key may be right; try again later.`;
    default:
      return status === 404
        ? `The address of ${name} returns 404. Check it, including /v1 at the end.`
        : `${name} did not answer as it should${status === null ? '' : ` (${status})`}. Check the key and the address, or try again.`;
  }
}
