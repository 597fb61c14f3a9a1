import { Injectable } from '@nestjs/common';
import type { BillableRequest } from '../../canonical/billable-request.js';
import { nameOf, type LimitedSubject } from '../../canonical/limits.js';
import { RateLimitError } from '../../platform/errors/gateway-errors.js';
import type { MinutePart, PartsDecision } from './rate-limit-decisions.js';
import { RateLimiter } from './rate-limiters.js';

interface RatePart extends MinutePart {
  readonly subject: LimitedSubject;
  readonly rate: 'requests_per_minute' | 'tokens_per_minute';
}

/** Amounts that a request counted against its minute, corrected once its actual tokens are known. */
export class TakenRates {
  constructor(
    private readonly limiter: RateLimiter,
    private readonly parts: readonly RatePart[],
    private readonly minute: number,
  ) {}

  /** Uncounts a request that was refused later. */
  giveBack(): void {
    this.correct(this.parts.map(({ name, amount }) => ({ name, amount: -amount })));
  }

  /** Replaces the estimated tokens by those actually used. */
  settle(tokens: number): void {
    const counted = this.parts.filter(({ rate }) => rate === 'tokens_per_minute');
    this.correct(counted.map(({ name, amount }) => ({ name, amount: tokens - amount })));
  }

  private correct(all: readonly { name: string; amount: number }[]): void {
    const changes = all.filter(({ amount }) => amount !== 0);
    if (changes.length > 0) void this.limiter.correct(changes, this.minute);
  }
}

/** Enforces requests and tokens per minute of tenants, keys and end users. */
@Injectable()
export class RequestRates {
  constructor(private readonly limiter: RateLimiter) {}

  /**
   * Counts a request against all limits, or against none when one has no room.
   *
   * @returns undefined when no limit applies
   * @throws RateLimitError naming the limit
   */
  take(tenantId: string, request: LimitedRequest): TakenRates | undefined | Promise<TakenRates> {
    const parts = partsOf(tenantId, request);
    if (parts.length === 0) return undefined;
    const decision = this.limiter.takeParts(parts);
    if (decision instanceof Promise) return decision.then((late) => this.taken(parts, late));
    return this.taken(parts, decision);
  }

  /** Resumes a request that another process admitted. Unused tokens are not credited back. */
  resume(tenantId: string, request: LimitedRequest): TakenRates | undefined {
    const parts = partsOf(tenantId, request);
    return parts.length === 0 ? undefined : new TakenRates(this.limiter, parts, -1);
  }

  private taken(parts: readonly RatePart[], { minute, refused }: PartsDecision): TakenRates {
    if (!refused) return new TakenRates(this.limiter, parts, minute);
    const { subject, rate, amount, limit } = parts[refused.index]!;
    const { remaining, retryAfterSeconds } = refused;
    const limited = `This ${nameOf(subject.scope)} may `;
    const retry = `Try again in ${retryAfterSeconds} s, when the next minute begins.`;
    let message = `${limited}make ${limit} requests per minute (requests_per_minute). ${retry}`;
    if (rate === 'tokens_per_minute') {
      const use = `${limited}use ${limit} tokens per minute (tokens_per_minute)`;
      message =
        amount > limit
          ? `${use}, and this prompt alone counts as ${amount}. Shorten it, or ask for a higher limit.`
          : `${use}. ${remaining} are left, and this prompt counts as ${amount}. ${retry}`;
    }
    throw new RateLimitError(`${subject.scope}.${rate}`, message, retryAfterSeconds, rate);
  }
}

type LimitedRequest = Pick<BillableRequest, 'limits' | 'routes'>;

/** Counts a prompt by its upper bound of tokens, since the actual number is known only at the end. */
function partsOf(tenantId: string, { limits = [], routes: [route] }: LimitedRequest): RatePart[] {
  const parts: RatePart[] = [];
  const tokens = route.ceiling.inputTokens;
  for (const subject of limits) {
    // The hash tag in braces keeps all counters of a request in one slot of a Redis Cluster.
    const name = `{${tenantId}}:${subject.scope}:${subject.id}`;
    const { requests_per_minute: requests, tokens_per_minute: tokenLimit } = subject;
    if (requests !== undefined) {
      const rate = 'requests_per_minute';
      parts.push({ name: `${name}:requests`, amount: 1, limit: requests, subject, rate });
    }
    if (tokenLimit !== undefined) {
      const rate = 'tokens_per_minute';
      parts.push({ name: `${name}:tokens`, amount: tokens, limit: tokenLimit, subject, rate });
    }
  }
  return parts;
}
