import type { BillableRequest } from '../../canonical/billable-request.js';
import type { CanonicalEvent, SettledEvent, WorkEvent } from '../../canonical/canonical-event.js';
import { CallerGoneError } from '../../platform/http/read-body.js';
import { RequestTimeError, SlowReaderError } from '../../platform/errors/gateway-errors.js';
import type { RequestOutcome } from '../request-log/request-log-row.js';

/** Events that the ledger follows: of text, or of other work. */
export type BilledEvent = CanonicalEvent | WorkEvent<unknown>;

const OVER: IteratorResult<never, undefined> = { done: true, value: undefined };

/** How an answer ended, judging by its events. */
export interface AnswerEnding {
  outcome: Extract<RequestOutcome, 'completed' | 'failed' | 'cancelled' | 'timeout'>;
  /** The thrown error; undefined when the vendor finished or the caller disconnected. */
  failure: unknown;
  /** True when the vendor finished, even after the caller disconnected. */
  isWhole: boolean;
}

/** Ends the hold of an answer; called exactly once. */
export type CloseAnswer = (ending: AnswerEnding) => Promise<SettledEvent>;

type SettledResult<Event> = IteratorResult<Event | SettledEvent, undefined>;

export interface SettlementHooks {
  readonly request: Pick<BillableRequest, 'callerGone' | 'upstreamCalled' | 'closeVendor'>;
  /** Called before the reader gets the event. */
  observe(event: BilledEvent): void;
  /**
   * Called when the caller disconnects during a vendor call, which is closed after a grace period.
   *
   * @returns a function to call when the answer has ended
   */
  beginGrace(): () => void;
  close: CloseAnswer;
}

/**
 * Passes an answer's events on and settles when it ends, whether completed, failed or abandoned. The
 * last event, `settled`, follows the commit. A hand-written iterator, because a generator costs three
 * microtask turns per event.
 *
 * After the caller disconnects during a vendor call, reads on for a grace period and only observes the
 * events.
 */
export class SettledAnswer<
  Event extends BilledEvent = CanonicalEvent,
> implements AsyncIterableIterator<Event | SettledEvent, undefined> {
  private readonly source: AsyncIterator<Event>;
  private isOver = false;
  private isAbandoned = false;
  private endGrace: (() => void) | undefined;
  private readonly onEvent: (
    result: IteratorResult<Event>,
  ) => SettledResult<Event> | Promise<SettledResult<Event>>;
  private readonly onFailure: (failure: unknown) => Promise<never>;
  private readonly onGone = (): void => this.abandon();

  constructor(
    events: AsyncIterable<Event>,
    private readonly observer: SettlementHooks,
  ) {
    this.source = events[Symbol.asyncIterator]();
    this.onEvent = (result) => {
      if (result.done) return this.complete();
      try {
        observer.observe(result.value);
      } catch (error) {
        // After an error the reader does not pull again, and neither call nor hold may stay open.
        void this.source.return?.();
        return this.onFailure(error);
      }
      return this.isAbandoned ? this.drainAndReject() : result;
    };
    this.onFailure = async (failure) => {
      this.isOver = true;
      await this.close({ outcome: this.outcomeOf(failure), failure, isWhole: false });
      throw failure;
    };
    const { callerGone } = observer.request;
    if (callerGone.aborted) this.abandon();
    else callerGone.addEventListener('abort', this.onGone);
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<SettledResult<Event>> {
    if (this.isOver) return Promise.resolve(OVER);
    return this.source.next().then(this.onEvent, this.onFailure);
  }

  /** Called when the reader stops early. */
  async return(): Promise<SettledResult<Event>> {
    if (this.isOver) return OVER;
    if (!this.isAbandoned) this.abandon();
    await this.drain();
    return OVER;
  }

  /** Starts the grace period of a running vendor call, unless the service is stopping. */
  private abandon(): void {
    if (this.isOver) return;
    const { request } = this.observer;
    if (request.callerGone.isServiceStop || !request.upstreamCalled) {
      // On a service stop, received events may still reach the caller.
      this.isAbandoned = !request.callerGone.isServiceStop;
      request.closeVendor();
      return;
    }
    this.isAbandoned = true;
    this.endGrace ??= this.observer.beginGrace();
  }

  private async drainAndReject(): Promise<never> {
    await this.drain();
    throw new CallerGoneError();
  }

  /** Reads the remaining events, only for their usage, and settles. */
  private async drain(): Promise<void> {
    this.isOver = true;
    let isWhole = false;
    let failure: unknown;
    try {
      if (this.endGrace) isWhole = await this.readToEnd();
    } catch (error) {
      failure = error;
    } finally {
      if (!isWhole) await this.endSource();
    }
    await this.close({ outcome: 'cancelled', failure, isWhole });
  }

  private async readToEnd(): Promise<true> {
    for (;;) {
      const result = await this.source.next();
      if (result.done) return true;
      this.observer.observe(result.value);
    }
  }

  private async endSource(): Promise<void> {
    this.observer.request.closeVendor();
    try {
      await this.source.return?.();
    } catch {
      // The hold must be settled, whatever the abandoned source throws.
    }
  }

  private async complete(): Promise<SettledResult<Event>> {
    this.isOver = true;
    const outcome = this.isAbandoned ? 'cancelled' : 'completed';
    return {
      done: false,
      value: await this.close({ outcome, failure: undefined, isWhole: true }),
    };
  }

  private outcomeOf(failure: unknown): AnswerEnding['outcome'] {
    // A reader that is too slow counts as disconnected.
    const { callerGone } = this.observer.request;
    if (callerGone.aborted || failure instanceof SlowReaderError) return 'cancelled';
    return failure instanceof RequestTimeError ? 'timeout' : 'failed';
  }

  private close(ending: AnswerEnding): Promise<SettledEvent> {
    this.observer.request.callerGone.removeEventListener('abort', this.onGone);
    this.endGrace?.();
    return this.observer.close(ending);
  }
}
