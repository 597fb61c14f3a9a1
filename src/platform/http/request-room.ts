import { FairQueue } from '../queue/fair-queue.js';
import type { BudgetedRequest } from './body-budget.js';
import { CallerGoneError } from './read-body.js';

/** JSON counts for its text and for what it is parsed into, as bodies do. */
const FORMS = 2;

/** What is larger is loaded in turns … */
const LARGE_BYTES = 262_144;
/** … of which so many run at once: the database reads for one while another's is parsed. */
const TURNS_AT_ONCE = 2;

/** Those that wait, tenant by tenant. */
const waiting = new FairQueue<() => void>(Infinity);
let turnsUnderWay = 0;

/**
 * Memory and time for what a request has loaded beside its body, such as the turns that it goes on from: they
 * weigh as much as if they had been sent, and a name of them is all that they cost the sender.
 */
export class RequestRoom {
  constructor(private readonly request: BudgetedRequest) {}

  /**
   * Counts so much JSON among the bodies, until the response has ended.
   *
   * @throws OverloadedError (`body`) when there is no memory for it
   */
  take(bytes: number): void {
    const { request } = this;
    request.bodyLease ??= request.bodyShare?.lease(request.res);
    request.bodyLease?.add(bytes * FORMS);
  }

  /**
   * Has so much JSON loaded, and whatever belongs to that done, when it is this tenant's turn; at once where it is
   * little. A hundred that load at once would take the database's connections, and the event loop, from all others.
   *
   * @throws CallerGoneError when the caller leaves before its turn
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
