import type { AccountAllowance, Allowance } from '../../../vendors/account-allowance.js';
import { MinuteWindow } from './minute-window.js';
import type { PooledRoute, PoolMember } from './pool-member.js';

/**
 * Models per account whose vendor-reported limits are kept; callers can invent names in families.
 */
const MAX_ALLOWANCES = 1_000;
/**
 * Utilization of an account with a spent minute; it gets requests only when all accounts are as
 * busy.
 */
const MAX_USED = 0.99;

/** A vendor's report on one model's limits and when it arrived, less the requests sent since. */
interface ReportedAllowance {
  requests: number;
  tokens: number;
  readonly allowance: AccountAllowance;
  readonly reportedMs: number;
}

/** Tracks one account's load, now and in the last minute, in this process. */
export class AccountLoad {
  /** Requests in flight. */
  open = 0;
  readonly requests = new MinuteWindow();
  readonly tokens = new MinuteWindow();
  /** By model, since vendors apply most limits per model. */
  private readonly reports = new Map<string, ReportedAllowance>();

  /**
   * Returns the load relative to the account's weight; lower goes first, 0 means idle.
   *
   * @param share this process's share of the account's limits
   */
  pressure({ weight, tokensPerMinute }: PoolMember, share: number, nowMs: number): number {
    if (this.open === 0) return 0;
    const limit = (tokensPerMinute ?? Infinity) * share;
    const used = Math.min(this.tokens.total(nowMs) / limit, MAX_USED);
    return this.open / weight / (1 - used);
  }

  /**
   * Returns the ms until the account may take a request, by its limits and the vendor's report; 0
   * means now.
   */
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
    const report = this.reports.get(upstreamModel);
    if (!report) return waitMs;
    const sinceMs = nowMs - report.reportedMs;
    const { requests, tokens: reported } = report.allowance;
    if (requests && report.requests < 1) waitMs = Math.max(waitMs, requests.resetMs - sinceMs);
    if (reported) waitMs = Math.max(waitMs, refillMs(reported, tokens - report.tokens) - sinceMs);
    return waitMs;
  }

  /** Records a request that is sent. */
  begin({ upstreamModel, pooled: { tokens } }: PooledRoute, nowMs: number): void {
    this.open++;
    this.requests.add(1, nowMs);
    this.tokens.add(tokens, nowMs);
    const report = this.reports.get(upstreamModel);
    if (!report) return;
    report.requests--;
    report.tokens -= tokens;
  }

  /** Replaces the estimate by the vendor's report. */
  adopt(upstreamModel: string, allowance: AccountAllowance, nowMs: number): void {
    if (this.reports.size >= MAX_ALLOWANCES) this.reports.clear();
    const requests = allowance.requests?.left ?? 0;
    const tokens = allowance.tokens?.left ?? 0;
    this.reports.set(upstreamModel, { requests, tokens, allowance, reportedMs: nowMs });
  }
}

/** At least one, so that many processes do not disable an account. */
function shareOf(limit: number, share: number): number {
  return Math.max(1, Math.floor(limit * share));
}

/** Returns the ms until the missing amount is refilled; with a known limit it refills steadily. */
function refillMs({ left, limit, resetMs }: Allowance, missing: number): number {
  if (missing <= 0) return 0;
  const used = limit === undefined ? 0 : limit - left;
  return used > 0 ? resetMs * Math.min(1, missing / used) : resetMs;
}
