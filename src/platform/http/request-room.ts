import { FairQueue } from '../queue/fair-queue.js';
import type { BudgetedRequest } from './body-budget.js';
import { CallerGoneError } from './read-body.js';

/** JSON counts as text and as parsed value, like bodies. */
const FORMS = 2;

/** Larger loads wait for a slot … */
const LARGE_BYTES = 262_144;
/** … of this many: the database reads for one while another is parsed. */
const TURNS_AT_ONCE = 2;

/** Waiting loads, by tenant. */
const waiting = new FairQueue<() => void>(Infinity);
let turnsUnderWay = 0;

/**
 * Limits memory and time for data that a request loads besides its body, such as earlier turns of a conversation: it
 * weighs as much as if it had been sent, and naming it costs the sender nothing.
 */
export class RequestRoom {
  constructor(private readonly request: BudgetedRequest) {}

  /**
   * Counts loaded JSON among the bodies until the response ends.
   *
   * @throws OverloadedError (`body`) when there is no memory for it
   */
  take(bytes: number): void {
    const { request } = this;
    request.bodyLease ??= request.bodyShare?.lease(request.res);
    request.bodyLease?.add(bytes * FORMS);
  }

  /**
   * Loads JSON when the tenant has a slot; small loads run at once. A hundred large loads at once would take the
   * database connections and the event loop from everyone else.
   *
   * @throws CallerGoneError when the caller leaves before
   */
  async inTurn<Loaded>(bytes: number, load: () => Promise<Loaded>): Promise<Loaded> {
    const { bodyShare, res } = this.request;
    if (!bodyShare || bytes <= LARGE_BYTES) return load();
    if (turnsUnderWay < TURNS_AT_ONCE) turnsUnderWay++;
    else await new Promise<void>((resolve) => waiting.add(bodyShare.tenantId, resolve));
    try {
      if (res?.destroyed) throw new CallerGoneError();
      return await load();
    } finally {
      const next = waiting.take();
      if (next) next();
      else turnsUnderWay--;
    }
  }
}
