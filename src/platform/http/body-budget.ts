import type { IncomingMessage, ServerResponse } from 'node:http';
import { OverloadedError } from '../errors/gateway-errors.js';
import { ContentionWindow } from '../queue/contention-window.js';

const RETRY_AFTER_SECONDS = 2;
/** Shares of nobody are forgotten when there are more, not at each request: that would cost more. */
const MAX_IDLE_SHARES = 10_000;

/**
 * Room in memory, or on the disk, for the bodies of all requests together, from their first byte until their response has
 * ended. What has arrived counts, not what a sender promises: promises would cost nothing.
 */
export class BodyBudget {
  private usedBytes = 0;
  private readonly shares = new Map<string, BodyShare>();

  /** @param time whether bodies of several tenants come at this time */
  constructor(
    readonly maxBytes: number,
    readonly time = new ContentionWindow(),
  ) {}

  get used(): number {
    return this.usedBytes;
  }

  /** What one tenant may take of it: half, so that none keeps out all others. */
  shareOf(tenantId: string): BodyShare {
    let share = this.shares.get(tenantId);
    if (!share) {
      if (this.shares.size >= MAX_IDLE_SHARES) this.forgetIdle();
      share = new BodyShare(this, tenantId);
      this.shares.set(tenantId, share);
    }
    return share;
  }

  /** @throws OverloadedError when they do not fit */
  add(bytes: number): void {
    if (bytes > 0 && this.usedBytes + bytes > this.maxBytes) {
      throw new OverloadedError(
        'body',
        'The gateway holds as many bodies as it has room for. Send the request again in a moment.',
        RETRY_AFTER_SECONDS,
        'body_budget',
      );
    }
    this.usedBytes += bytes;
  }

  private forgetIdle(): void {
    for (const [tenantId, share] of this.shares) if (share.isIdle) this.shares.delete(tenantId);
  }
}

/** One tenant's part of the budget. */
export class BodyShare {
  private usedBytes = 0;
  private leases = 0;

  constructor(
    private readonly budget: BodyBudget,
    readonly tenantId: string,
  ) {}

  get isIdle(): boolean {
    return this.leases === 0;
  }

  /** Whether other tenants call at this time as well. */
  get isBesideOthers(): boolean {
    return this.budget.time.isShared;
  }

  /** For one request; given back when its response has ended, whatever way. */
  lease(response: ServerResponse | undefined): BodyLease {
    const lease = new BodyLease(this);
    this.leases++;
    if (response?.destroyed) lease.release();
    else response?.once('close', () => lease.release());
    return lease;
  }

  add(bytes: number): void {
    if (bytes > 0 && this.usedBytes + bytes > this.budget.maxBytes / 2) {
      throw new OverloadedError(
        'body',
        'The bodies of your open requests take all the room that the gateway has for one tenant. Send the request again when some have ended.',
        RETRY_AFTER_SECONDS,
        'body_budget',
      );
    }
    this.budget.add(bytes);
    this.usedBytes += bytes;
  }

  giveBack(bytes: number): void {
    this.leases--;
    this.add(-bytes);
  }
}

/** What one request has taken of the budget. */
export class BodyLease {
  private bytes = 0;
  private isReleased = false;

  constructor(private readonly share: BodyShare) {}

  /** @param bytes negative to give some back. @throws OverloadedError when they do not fit */
  add(bytes: number): void {
    if (this.isReleased) return;
    this.share.add(bytes);
    this.bytes += bytes;
  }

  /** Gives all back, once. */
  release(): void {
    if (this.isReleased) return;
    this.isReleased = true;
    this.share.giveBack(this.bytes);
  }
}

/** A request behind the key check, whose body is counted. */
export interface BudgetedRequest extends IncomingMessage {
  /** Undefined where nothing is counted. */
  bodyShare?: BodyShare;
  /** Since its body is being read. */
  bodyLease?: BodyLease;
  /** What the path names that other paths leave to the body; it counts before the body's own. */
  membersOfPath?: Readonly<Record<string, string>>;
  /** Express's. */
  res?: ServerResponse;
}
