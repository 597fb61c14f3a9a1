import type { BudgetedRequest } from './body-budget.js';
import { waitsForTurn } from './read-body.js';

/** JSON counts for its text and for what it is parsed into, as bodies do. */
const FORMS = 2;

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

  /** Resolves when it is this tenant's turn to have so much JSON parsed; at once where that is little. */
  async turn(bytes: number): Promise<void> {
    const { bodyShare } = this.request;
    if (!bodyShare) return;
    await new Promise<void>((resolve) => {
      if (!waitsForTurn(bytes, bodyShare, resolve)) resolve();
    });
  }
}
