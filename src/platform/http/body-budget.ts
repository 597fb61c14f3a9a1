import type { IncomingMessage, ServerResponse } from 'node:http';
import { OverloadedError } from '../errors/gateway-errors.js';
import { ContentionWindow } from '../queue/contention-window.js';

const RETRY_AFTER_SECONDS = 2;
/** Idle shares are dropped beyond this many, not per request, which would cost more. */
const MAX_IDLE_SHARES = 10_000;

/**
 * Limits the memory, or disk space, for the bodies of all requests, from their first byte to the end of their response.
 * Counts bytes that arrived, not announced lengths: announcing is free.
 */
export class BodyBudget {
  private usedBytes = 0;
  private readonly shares = new Map<string, BodyShare>();

  /** @param time tells whether several tenants are sending bodies */
  constructor(
    readonly maxBytes: number,
    readonly time = new ContentionWindow(),
  ) {}

  get used(): number {
    return this.usedBytes;
  }

  /** Returns a tenant's share: half of the budget, so that none locks out the others. */
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
        'The gateway has no memory for more request bodies. Send the request again in a moment.',
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

/** One tenant's share of the budget. */
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

  /** True when other tenants are calling too. */
  get isBesideOthers(): boolean {
    return this.budget.time.isShared;
  }

  /** Takes a lease for one request, released when its response ends in any way. */
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
        'The bodies of your open requests fill the memory that the gateway has for one tenant. Send the request again when some have finished.',
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

/** The part of the budget that one request holds. */
export class BodyLease {
  private bytes = 0;
  private isReleased = false;

  constructor(private readonly share: BodyShare) {}

  /** @param bytes negative to release some. @throws OverloadedError when they do not fit */
  add(bytes: number): void {
    if (this.isReleased) return;
    this.share.add(bytes);
    this.bytes += bytes;
  }

  /** Releases everything, once. */
  release(): void {
    if (this.isReleased) return;
    this.isReleased = true;
    this.share.giveBack(this.bytes);
  }
}

/** An authenticated request whose body is counted. */
export interface BudgetedRequest extends IncomingMessage {
  /** Undefined when bodies are not counted. */
  bodyShare?: BodyShare;
  /** Set while the body is read and held. */
  bodyLease?: BodyLease;
  /** Body fields that the path provides, such as the model; they override the body. */
  membersOfPath?: Readonly<Record<string, string>>;
  /** Set by Express. */
  res?: ServerResponse;
}
