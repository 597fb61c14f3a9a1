import { Injectable } from '@nestjs/common';
import { CallerGoneError } from '../../platform/http/read-body.js';
import { FairQueue } from '../../platform/queue/fair-queue.js';
import { ContentionWindow } from '../../platform/queue/contention-window.js';
import type { Closing } from './in-flight-limiter.js';

/** Model calls that start per turn of the event loop. */
const STARTS_A_TURN = 32;
/** Calls of one tenant that start per turn while others call too. Lowered while turns are long. */
const STARTS_OF_ONE = 4;
/** Turns longer than this halve the starts per tenant, down to one. */
const LONG_TURN_MS = 4;

/**
 * Spreads a tenant's burst of model calls over turns of the event loop, so that another tenant's single
 * call does not queue behind all of them. A tenant that calls alone starts 32 per turn, so that their
 * holds share a commit.
 */
@Injectable()
export class FairStarts {
  /** Unbounded: the connection limit bounds it, and a waiting request takes little memory. */
  private readonly waiting = new FairQueue<() => void>(Infinity);
  /** Tenants of the calls started in this turn. */
  private readonly started: string[] = [];
  private startsOfOne = STARTS_OF_ONE;
  private turnBeganMs = 0;

  constructor(private readonly time: ContentionWindow) {}

  /**
   * @returns undefined when the call may start at once
   * @throws CallerGoneError when the caller disconnects while waiting
   */
  waitForTurn(tenantId: string, response: Closing): Promise<void> | undefined {
    this.time.note(tenantId);
    if (this.mayStart(tenantId)) {
      this.start(tenantId);
      return undefined;
    }
    return new Promise((resolve, reject) => {
      const start = (): void => {
        response.off('close', leave);
        this.start(tenantId);
        resolve();
      };
      const leave = (): void => {
        this.waiting.remove(tenantId, start);
        reject(new CallerGoneError());
      };
      if (response.destroyed) return leave();
      this.waiting.add(tenantId, start);
      response.once('close', leave);
    });
  }

  private readonly mayStart = (tenantId: string): boolean => {
    const { started, startsOfOne } = this;
    if (started.length < startsOfOne) return true;
    if (started.length >= STARTS_A_TURN) return false;
    if (!this.time.isShared) return true;
    let own = 0;
    for (const startedId of started) if (startedId === tenantId) own++;
    return own < startsOfOne;
  };

  private start(tenantId: string): void {
    if (this.started.push(tenantId) > 1) return;
    this.turnBeganMs = this.time.nowMs();
    setImmediate(this.endTurn);
  }

  /** Starts waiting calls first, before those that arrive in the new turn. */
  private readonly endTurn = (): void => {
    const wasLong = this.time.nowMs() - this.turnBeganMs > LONG_TURN_MS;
    this.startsOfOne = wasLong
      ? Math.ceil(this.startsOfOne / 2)
      : Math.min(this.startsOfOne + 1, STARTS_OF_ONE);
    this.started.length = 0;
    while (this.started.length < STARTS_A_TURN) {
      const start = this.waiting.take(this.mayStart);
      if (!start) return;
      start();
    }
  };
}
