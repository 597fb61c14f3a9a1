import type { CanonicalEvent, SettledEvent } from '../../canonical/canonical-event.js';
import type { WorkEvent } from '../../canonical/work-event.js';
import { SlowReaderError } from '../../platform/errors/gateway-errors.js';
import type { RequestOutcome } from './request-log/request-log.draft.js';

/** What the ledger can follow: the events of text, or those of other work. */
export type BilledEvent = CanonicalEvent | WorkEvent<unknown>;

const OVER: IteratorResult<never, undefined> = { done: true, value: undefined };

/** Ends the hold of an answer; called exactly once. */
export type CloseAnswer = (outcome: RequestOutcome, failure: unknown) => Promise<SettledEvent>;

type SettledResult<Event> = IteratorResult<Event | SettledEvent, undefined>;

export interface AnswerObserver {
  /** Sees each event before the reader does. */
  observe(event: BilledEvent): void;
  /** Whether the caller left, in which case a failure is only what that brought about. */
  callerIsGone(): boolean;
  close: CloseAnswer;
}

/**
 * Passes an answer's events on, and settles it however it ends: completed, failed, or left by its
 * reader. The last event, `settled`, comes after the commit. An iterator by hand, because a
 * generator would cost each piece of a stream three turns of the microtask queue.
 */
export class SettledAnswer<
  Event extends BilledEvent = CanonicalEvent,
> implements AsyncIterableIterator<Event | SettledEvent, undefined> {
  private readonly source: AsyncIterator<Event>;
  private readonly close: CloseAnswer;
  private isOver = false;
  private readonly onEvent: (
    result: IteratorResult<Event>,
  ) => SettledResult<Event> | Promise<SettledResult<Event>>;
  private readonly onFailure: (failure: unknown) => Promise<never>;

  constructor(events: AsyncIterable<Event>, observer: AnswerObserver) {
    this.source = events[Symbol.asyncIterator]();
    this.close = observer.close;
    this.onEvent = (result) => {
      if (result.done) return this.complete();
      try {
        observer.observe(result.value);
      } catch (error) {
        // Nobody pulls again after a failed pull, and neither call nor hold must stay.
        void this.source.return?.();
        return this.onFailure(error);
      }
      return result;
    };
    this.onFailure = async (failure) => {
      this.isOver = true;
      // Who does not read in time has left, as far as the vendor and the books are concerned.
      const isCallers = observer.callerIsGone() || failure instanceof SlowReaderError;
      await this.close(isCallers ? 'cancelled' : 'failed', failure);
      throw failure;
    };
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<SettledResult<Event>> {
    if (this.isOver) return Promise.resolve(OVER);
    return this.source.next().then(this.onEvent, this.onFailure);
  }

  /** The reader leaves before the end. */
  async return(): Promise<SettledResult<Event>> {
    if (this.isOver) return OVER;
    this.isOver = true;
    try {
      await this.source.return?.();
    } finally {
      await this.close('cancelled', undefined);
    }
    return OVER;
  }

  private async complete(): Promise<SettledResult<Event>> {
    this.isOver = true;
    return { done: false, value: await this.close('completed', undefined) };
  }
}
