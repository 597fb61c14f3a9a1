import type { BillableRequest } from '../../canonical/billable-request.js';
import type { CanonicalEvent, SettledEvent, WorkEvent } from '../../canonical/canonical-event.js';
import { CallerGoneError } from '../../platform/http/read-body.js';
import { RequestTimeError, SlowReaderError } from '../../platform/errors/gateway-errors.js';
import type { RequestOutcome } from '../request-log/request-log-row.js';

/** What the ledger can follow: the events of text, or those of other work. */
export type BilledEvent = CanonicalEvent | WorkEvent<unknown>;

const OVER: IteratorResult<never, undefined> = { done: true, value: undefined };

/** How an answer ended, as far as its events tell. */
export interface AnswerEnding {
  outcome: Extract<RequestOutcome, 'completed' | 'failed' | 'cancelled' | 'timeout'>;
  /** What was thrown, unless the vendor came to its end or the reader left. */
  failure: unknown;
  /** Whether the vendor came to its end, be it after the caller had left. */
  isWhole: boolean;
}

/** Ends the hold of an answer; called exactly once. */
export type CloseAnswer = (ending: AnswerEnding) => Promise<SettledEvent>;

type SettledResult<Event> = IteratorResult<Event | SettledEvent, undefined>;

export interface SettlementHooks {
  readonly request: Pick<BillableRequest, 'callerGone' | 'upstreamCalled' | 'closeVendor'>;
  /** Sees each event before the reader does. */
  observe(event: BilledEvent): void;
  /**
   * The caller has left while a vendor was at work, which is closed a moment later.
   *
   * @returns to be called when the answer has ended
   */
  beginGrace(): () => void;
  close: CloseAnswer;
}

/**
 * Passes an answer's events on, and settles it however it ends: completed, failed, or left by its
 * reader. The last event, `settled`, comes after the commit. An iterator by hand, because a
 * generator would cost each piece of a stream three turns of the microtask queue.
 *
 * Of a caller who leaves while a vendor is at work the rest is read for a moment, and thrown away but
 * for what the observer takes from it.
 */
export class SettledAnswer<
  Event extends BilledEvent = CanonicalEvent,
> implements AsyncIterableIterator<Event | SettledEvent, undefined> {
  private readonly source: AsyncIterator<Event>;
  private isOver = false;
  private isLeft = false;
  private endGrace: (() => void) | undefined;
  private readonly onEvent: (
    result: IteratorResult<Event>,
  ) => SettledResult<Event> | Promise<SettledResult<Event>>;
  private readonly onFailure: (failure: unknown) => Promise<never>;
  private readonly onGone = (): void => this.leave();

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
        // Nobody pulls again after a failed pull, and neither call nor hold must stay.
        void this.source.return?.();
        return this.onFailure(error);
      }
      return this.isLeft ? this.readOnUnheard() : result;
    };
    this.onFailure = async (failure) => {
      this.isOver = true;
      await this.close({ outcome: this.outcomeOf(failure), failure, isWhole: false });
      throw failure;
    };
    const { callerGone } = observer.request;
    if (callerGone.aborted) this.leave();
    else callerGone.addEventListener('abort', this.onGone);
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
    if (!this.isLeft) this.leave();
    await this.readOn();
    return OVER;
  }

  /** Nobody waits any more. A vendor at work may go on for a moment, unless it is we who stop. */
  private leave(): void {
    if (this.isOver) return;
    const { request } = this.observer;
    if (request.callerGone.isServiceStop || !request.upstreamCalled) {
      // What is there already may still reach a caller whom we cut.
      this.isLeft = !request.callerGone.isServiceStop;
      request.closeVendor();
      return;
    }
    this.isLeft = true;
    this.endGrace ??= this.observer.beginGrace();
  }

  private async readOnUnheard(): Promise<never> {
    await this.readOn();
    throw new CallerGoneError();
  }

  /** Reads what still comes, for its usage alone, and settles. */
  private async readOn(): Promise<void> {
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
      // The hold has to be settled, whatever is wrong with what nobody reads.
    }
  }

  private async complete(): Promise<SettledResult<Event>> {
    this.isOver = true;
    const outcome = this.isLeft ? 'cancelled' : 'completed';
    return {
      done: false,
      value: await this.close({ outcome, failure: undefined, isWhole: true }),
    };
  }

  private outcomeOf(failure: unknown): AnswerEnding['outcome'] {
    // Who does not read in time has left, as far as the vendor and the books are concerned.
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
