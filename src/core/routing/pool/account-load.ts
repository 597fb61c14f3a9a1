import type { AccountAllowance, Allowance } from '../../../vendors/account-allowance.js';
import { MinuteWindow } from './minute-window.js';
import type { PooledRoute, PoolMember } from './pool-member.js';

/** Models about which a vendor's word is kept; callers make up the names in families. */
const MAX_WORDS = 1_000;
/** As busy as an account looks that has used up its minute: it gets requests only where all others have. */
const MAX_USED = 0.99;

/** A vendor's word about one model, and when it came; what went out since is taken off. */
interface Word {
  requests: number;
  tokens: number;
  readonly said: AccountAllowance;
  readonly saidMs: number;
}

/** What one account has to do, and had in the last minute, as far as this process knows. */
export class AccountLoad {
  /** Requests under way. */
  open = 0;
  readonly requests = new MinuteWindow();
  readonly tokens = new MinuteWindow();
  /** By models, as vendors count most limits by them. */
  private readonly words = new Map<string, Word>();

  /**
   * How busy it is for its weight: the less, the sooner its turn; 0 with nothing under way.
   *
   * @param share of the account's limits that is this process's
   */
  pressure({ weight, tokensPerMinute }: PoolMember, share: number, nowMs: number): number {
    if (this.open === 0) return 0;
    const limit = (tokensPerMinute ?? Infinity) * share;
    const used = Math.min(this.tokens.total(nowMs) / limit, MAX_USED);
    return this.open / weight / (1 - used);
  }

  /** Milliseconds until it may take a request, by its limits and by the vendor's word; 0: now. */
  waitMs(
    { upstreamModel, pooled: { member, tokens } }: PooledRoute,
    share: number,
    nowMs: number,
  ): number {
    const { requestsPerMinute, tokensPerMinute } = member;
    let waitMs = 0;
    if (requestsPerMinute !== undefined) {
      waitMs = this.requests.waitMs(1, shareOf(requestsPerMinute, share), nowMs);
    }
    if (tokensPerMinute !== undefined) {
      const limit = shareOf(tokensPerMinute, share);
      waitMs = Math.max(waitMs, this.tokens.waitMs(tokens, limit, nowMs));
    }
    const word = this.words.get(upstreamModel);
    if (!word) return waitMs;
    const sinceMs = nowMs - word.saidMs;
    const { requests, tokens: said } = word.said;
    if (requests && word.requests < 1) waitMs = Math.max(waitMs, requests.resetMs - sinceMs);
    if (said) waitMs = Math.max(waitMs, refillMs(said, tokens - word.tokens) - sinceMs);
    return waitMs;
  }

  /** A request goes out. */
  begin({ upstreamModel, pooled: { tokens } }: PooledRoute, nowMs: number): void {
    this.open++;
    this.requests.add(1, nowMs);
    this.tokens.add(tokens, nowMs);
    const word = this.words.get(upstreamModel);
    if (!word) return;
    word.requests--;
    word.tokens -= tokens;
  }

  /** Takes what the vendor says of itself in place of what was thought. */
  heed(upstreamModel: string, said: AccountAllowance, nowMs: number): void {
    if (this.words.size >= MAX_WORDS) this.words.clear();
    const requests = said.requests?.left ?? 0;
    const tokens = said.tokens?.left ?? 0;
    this.words.set(upstreamModel, { requests, tokens, said, saidMs: nowMs });
  }
}

/** At least one: an account must not be out of use because there are many processes. */
function shareOf(limit: number, share: number): number {
  return Math.max(1, Math.floor(limit * share));
}

/** How long until so much more is there than was left: with a known limit it comes back steadily. */
function refillMs({ left, limit, resetMs }: Allowance, missing: number): number {
  if (missing <= 0) return 0;
  const used = limit === undefined ? 0 : limit - left;
  return used > 0 ? resetMs * Math.min(1, missing / used) : resetMs;
}
