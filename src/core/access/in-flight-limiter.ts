import { availableParallelism } from 'node:os';
import { Inject, Injectable } from '@nestjs/common';
import { APP_CONFIG, type AppConfig } from '../../platform/config/app-config.js';
import { RateLimitError } from '../../platform/errors/gateway-errors.js';
import { CallerGoneError } from '../../platform/http/read-body.js';
import { FairQueue } from '../../platform/queue/fair-queue.js';
import { countedKeyOf, type Caller } from './caller.js';

/** Room may come with the end of any answer. */
const RETRY_AFTER_SECONDS = 2;
/** Of what is no inference each of a tenant is at work for so long at most: an export that takes a minute keeps nothing else waiting … */
const LONGEST_TURN_MS = 250;
/** … and so many wait for their turn. */
const MAX_WAITING = 500;
/** Counts of nobody are forgotten when there are more, not at each request: that would cost more. */
const MAX_COUNTS = 10_000;

/** What is open until it closes: a response, or a connection. */
export interface Closing {
  readonly destroyed: boolean;
  once(event: 'close', listener: () => void): unknown;
  off(event: 'close', listener: () => void): unknown;
}

/** Requests that are open, by the id of whose they are. */
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

  /** Of all together; added up when somebody asks, so that no request pays for it. */
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
 * Limits how much one key and one tenant have open at once in this process, each from its admission
 * until its response has ended, whatever way.
 */
@Injectable()
export class InFlightLimiter {
  /**
   * So many of a tenant are at work at once of what is no inference: a second one would take the second of two
   * cores from everybody's calls of models.
   */
  turnsAtOnce = availableParallelism() > 2 ? 2 : 1;
  private readonly byKey = new OpenRequests();
  private readonly byTenant = new OpenRequests();
  private readonly reportsByTenant = new OpenRequests();
  private readonly turns = new FairQueue<() => void>(MAX_WAITING);
  private readonly turnsByTenant = new OpenRequests();
  private readonly maxPerKey: number;
  private readonly maxPerTenant: number;

  constructor(@Inject(APP_CONFIG) { admission }: Pick<AppConfig, 'admission'>) {
    this.maxPerKey = admission.maxInFlightPerKey;
    this.maxPerTenant = admission.maxInFlightPerTenant;
  }

  /** Calls of models that are open in this process. */
  get open(): number {
    return this.byTenant.total;
  }

  /** @throws RateLimitError naming the limit, when the key or its tenant has too many open already */
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
   * The same for answers that keep the database busy, such as exports.
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
   * For what is no inference: few of a tenant are at work at once, and the others wait, so that a
   * hundred reads of one tenant do not come between another's single request and its answer.
   *
   * @param limits.maxWaiting so many more may wait
   * @param limits.longestMs a turn ends after so long, even if its request has not
   * @returns undefined when it may go on at once
   * @throws RateLimitError when too many wait already
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
        // In the next turn of the event loop: what is answered at once would be one long turn, for all that wait.
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
      // Nobody is left to be told; whoever waits on the promise shall not wait for ever.
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
