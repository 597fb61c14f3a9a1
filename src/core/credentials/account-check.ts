import { UpstreamError } from '../../vendors/upstream-error.js';
import type { Upstream } from '../../vendors/upstream.js';

const LIMIT_MS = 10_000;

/** What one real call that costs nothing said of an account with a vendor. */
export interface AccountCheck {
  readonly ok: boolean;
  /** With which the vendor answered; null: it did not, or all is well. */
  readonly status: number | null;
  /** For whoever gave the key: what is wrong, and what to do. */
  readonly message: string;
  /** Null where the vendor lists none, or the check failed. */
  readonly modelsSeen: number | null;
  readonly latencyMs: number;
}

/**
 * Tries an account by one call, which lists models or asks for a balance. Takes 10 s at most.
 *
 * @param name of the provider, for people
 */
export async function checkAccount(upstream: Upstream, name: string): Promise<AccountCheck> {
  const limits = { firstByteMs: LIMIT_MS, idleMs: LIMIT_MS, requestMs: LIMIT_MS };
  const signal = AbortSignal.timeout(LIMIT_MS);
  const startedMs = performance.now();
  const took = (): number => Math.round(performance.now() - startedMs);
  try {
    const models = (await upstream.probe({ limits, signal, readsAnswer: true })) ?? null;
    const seen = models === null ? '' : ` It lists ${models} model${models === 1 ? '' : 's'}.`;
    return {
      ok: true,
      status: null,
      message: `${name} takes the key.${seen}`,
      modelsSeen: models,
      latencyMs: took(),
    };
  } catch (error) {
    if (!(error instanceof UpstreamError) && !signal.aborted) throw error;
    const failure = signal.aborted || !(error instanceof UpstreamError) ? 'timeout' : error.failure;
    const status = error instanceof UpstreamError ? (error.status ?? null) : null;
    return {
      ok: false,
      status,
      message: messageOf(name, failure, status),
      modelsSeen: null,
      latencyMs: took(),
    };
  }
}

/** In our own words: what vendors say may repeat the key. */
function messageOf(name: string, failure: UpstreamError['failure'], status: number | null): string {
  if (status === 401 || status === 403) {
    return `${name} refuses the key (${status}). Check that it is complete, active, and of this account.`;
  }
  switch (failure) {
    case 'connect':
      return `No connection to ${name} came about. Check the address, and whether this machine reaches it.`;
    case 'timeout':
      return `${name} did not answer within ${LIMIT_MS / 1_000} s. Check the address, or try again.`;
    case 'unreadable':
    case 'cut':
      return `What answers at the address of ${name} does not speak its API. Check the address, /v1 at its end included.`;
    case 'rate_limited':
      return `${name} asks for fewer calls${status === null ? '' : ` (${status})`}. The key may be right; try again later.`;
    default:
      return status === 404
        ? `There is nothing at the address of ${name} (404). Check it, /v1 at its end included.`
        : `${name} did not answer as it should${status === null ? '' : ` (${status})`}. Check the key and the address, or try again.`;
  }
}
