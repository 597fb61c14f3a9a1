import { availableParallelism } from 'node:os';
import type { AppConfig } from '../../platform/config/app-config.js';
import { RateLimitError } from '../../platform/errors/gateway-errors.js';
import { CallerGoneError } from '../../platform/http/read-body.js';
import { FairQueue } from '../../platform/queue/fair-queue.js';
import { countedKeyOf, type Caller } from './caller.js';

/** Any response that ends makes room. */
const RETRY_AFTER_SECONDS = 2;
/** With two cores, a second management request would take the other core from everyone's model calls. */
const DEFAULT_TURNS_AT_ONCE = availableParallelism() > 2 ? 2 : 1;
/** A long management request, such as an export, gives up its place after this time. */
const LONGEST_TURN_MS = 250;
/** Management requests of one tenant that may wait. */
const MAX_WAITING = 500;
/** Idle counts are dropped beyond this many instead of after each request, which would cost more. */
const MAX_COUNTS = 10_000;

/** A response or connection, which closes once. */
export interface Closing {
  readonly destroyed: boolean;
  once(event: 'close', listener: () => void): unknown;
  off(event: 'close', listener: () => void): unknown;
}

/** Counts open requests by id. */
class OpenRequests {
  private readonly counts = new Map<string, { open: number }>();

  of(id: string): { open: number } {
    let count = this.counts.get(id);
    if (!count) {
      if (this.counts.size >= MAX_COUNTS) this.forgetIdle();
      count = { open: 0 };
      this.counts.set(id, count);
    }
    return count;
  }

  /** Sum over all ids, computed on demand so that requests do not pay for it. */
  get total(): number {
    let total = 0;
    for (const { open } of this.counts.values()) total += open;
    return total;
  }

  private forgetIdle(): void {
    for (const [id, { open }] of this.counts) if (open === 0) this.counts.delete(id);
  }
}

/**
 * Limits the open requests of a key and of a tenant in this process, from admission to the close of the
 * response.
 */
export class InFlightLimiter {
  private readonly byKey = new OpenRequests();
  private readonly byTenant = new OpenRequests();
  private readonly reportsByTenant = new OpenRequests();
  private readonly turns = new FairQueue<() => void>(MAX_WAITING);
  private readonly turnsByTenant = new OpenRequests();
  private readonly maxPerKey: number;
  private readonly maxPerTenant: number;

  /** @param turnsAtOnce management requests of one tenant that run at once */
  constructor(
    { admission }: Pick<AppConfig, 'admission'>,
    private readonly turnsAtOnce = DEFAULT_TURNS_AT_ONCE,
  ) {
    this.maxPerKey = admission.maxInFlightPerKey;
    this.maxPerTenant = admission.maxInFlightPerTenant;
  }

  /** Open model calls in this process. */
  get open(): number {
    return this.byTenant.total;
  }

  /** @throws RateLimitError naming the limit when the key or its tenant has too many open requests */
  admit(caller: Caller, response: Closing): void {
    if (response.destroyed) return;
    const key = this.byKey.of(countedKeyOf(caller));
    if (key.open >= this.maxPerKey) throw tooMany('max_in_flight_per_key', 'key', this.maxPerKey);
    const tenant = this.byTenant.of(caller.tenantId);
    if (tenant.open >= this.maxPerTenant) {
      throw tooMany('max_in_flight_per_tenant', 'tenant', this.maxPerTenant);
    }
    key.open++;
    tenant.open++;
    response.once('close', () => {
      key.open--;
      tenant.open--;
    });
  }

  /**
   * Admits a request that keeps the database busy, such as an export.
   *
   * @throws RateLimitError when the tenant has `limit` open already
   */
  admitReport({ tenantId }: Pick<Caller, 'tenantId'>, response: Closing, limit: number): void {
    if (response.destroyed) return;
    const tenant = this.reportsByTenant.of(tenantId);
    if (tenant.open >= limit) {
      throw new RateLimitError(
        'max_reports_per_tenant',
        `A tenant may have ${limit} exports and reports open at once. Try again when one has ended.`,
        RETRY_AFTER_SECONDS,
        'max_reports_per_tenant',
      );
    }
    tenant.open++;
    response.once('close', () => tenant.open--);
  }

  /**
   * Queues management requests per tenant, so that a hundred reads of one tenant do not delay another
   * tenant's single request.
   *
   * @param limits.maxWaiting requests that may wait
   * @param limits.longestMs time after which a request gives up its place even if it is still running
   * @returns undefined when the request may proceed at once
   * @throws RateLimitError when too many are waiting
   */
  waitForTurn(
    { tenantId }: Pick<Caller, 'tenantId'>,
    response: Closing,
    { maxWaiting = MAX_WAITING, longestMs = LONGEST_TURN_MS } = {},
  ): Promise<void> | undefined {
    if (response.destroyed) return undefined;
    const atWork = this.turnsByTenant.of(tenantId);
    const begin = (): void => {
      atWork.open++;
      const end = (): void => {
        clearTimeout(timer);
        response.off('close', end);
        // Deferred: requests answered synchronously would otherwise run in one long turn.
        setImmediate(() => {
          atWork.open--;
          this.turns.take((owner) => owner === tenantId)?.();
        });
      };
      const timer = setTimeout(end, longestMs);
      response.once('close', end);
    };
    if (atWork.open < this.turnsAtOnce) {
      begin();
      return undefined;
    }
    return new Promise((resolve, reject) => {
      const turn = (): void => {
        response.off('close', leave);
        begin();
        resolve();
      };
      // The caller is gone, but code awaiting the promise must not hang.
      const leave = (): void => {
        this.turns.remove(tenantId, turn);
        reject(new CallerGoneError());
      };
      if (!this.turns.add(tenantId, turn, maxWaiting)) {
        return reject(tooMany('max_waiting_per_tenant', 'tenant', maxWaiting + this.turnsAtOnce));
      }
      response.once('close', leave);
    });
  }
}

function tooMany(param: string, whose: string, limit: number): RateLimitError {
  return new RateLimitError(
    param,
    `This ${whose} may have ${limit} requests open at once. Try again when one has ended.`,
    RETRY_AFTER_SECONDS,
    param,
  );
}
