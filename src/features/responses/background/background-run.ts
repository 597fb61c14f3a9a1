import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { Canceller } from '../../../canonical/cancel-signal.js';
import type { CanonicalEvent } from '../../../canonical/canonical-event.js';
import type { Call } from '../../../core/answers/call.js';
import type { BackgroundClaim } from './background-responses.repository.js';

/** A running background response. Its signal fires on cancellation. */
export class BackgroundRun extends Canceller {
  readonly left: Promise<void>;
  closeVendor: (() => void) | undefined;
  private hasLeft = false;
  private tellLeft: () => void = () => undefined;

  constructor(readonly claim: BackgroundClaim) {
    super();
    this.left = new Promise((resolve) => (this.tellLeft = resolve));
  }

  get isCancelled(): boolean {
    return this.aborted;
  }

  cancel(): void {
    this.abort();
  }

  /** Abandons the work for another worker to restart. Nothing is settled here after this. */
  leave(): void {
    this.hasLeft = true;
    this.tellLeft();
    this.closeVendor?.();
  }

  /** Passes events through. After `leave` the stream never ends, so that it is never settled. */
  async *pass(events: AsyncIterable<CanonicalEvent>): AsyncGenerator<CanonicalEvent> {
    try {
      for await (const event of events) {
        if (this.hasLeft) break;
        yield event;
      }
    } catch (error) {
      if (!this.hasLeft) throw error;
    }
    if (this.hasLeft) await new Promise<never>(() => undefined);
  }
}

/** Recreates the caller's request. The response head is not read. */
export function callOf(run: BackgroundRun): Call {
  const { caller, requestId, headers } = run.claim;
  const body = new IncomingMessage(new Socket());
  return {
    caller,
    requestId,
    receivedAt: new Date(),
    headers,
    body,
    head: new ServerResponse(body),
    callerGone: run,
  };
}
