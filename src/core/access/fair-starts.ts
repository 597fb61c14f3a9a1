import { Injectable } from '@nestjs/common';
import { CallerGoneError } from '../../platform/http/read-body.js';
import { FairQueue } from '../../platform/queue/fair-queue.js';
import { ContentionWindow } from '../../platform/queue/contention-window.js';
import type { Closing } from './in-flight-limiter.js';

/** So many calls of models start in one turn of the event loop … */
const STARTS_A_TURN = 32;
/** … and so many of one tenant's while others call as well: what starts lead to keeps the others' answers waiting … */
const STARTS_OF_ONE = 4;
/** … or fewer, down to one, as long as turns take longer. */
const LONG_TURN_MS = 4;

/**
 * Spreads what one tenant sends at once over turns of the event loop, in which others have their
 * turn too: of two hundred calls in one moment, each takes the processor for a while, and another
 * tenant's single call would come behind all of them. Who is alone starts 32 in a turn, so that
 * their holds share a commit.
 */
@Injectable()
export class FairStarts {
  nowMs = (): number => performance.now();
  /** No more than have a connection, and of each only the head of its request. */
  private readonly waiting = new FairQueue<() => void>(Infinity);
  /** Whose calls started in this turn. */
  private readonly started: string[] = [];
  private startsOfOne = STARTS_OF_ONE;
  private turnBeganMs = 0;

  constructor(private readonly time: ContentionWindow) {}

  /**
   * @returns undefined when the call may start at once
   * @throws CallerGoneError when the caller leaves meanwhile
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
    this.turnBeganMs = this.nowMs();
    setImmediate(this.endTurn);
  }

  /** Who waits goes first in the turn that begins; a tenant whose calls still wait has no start left in it. */
  private readonly endTurn = (): void => {
    const wasLong = this.nowMs() - this.turnBeganMs > LONG_TURN_MS;
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
