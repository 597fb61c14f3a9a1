import type { CanonicalEvent } from '../../canonical/canonical-event.js';

const OVER: IteratorResult<never, undefined> = { done: true, value: undefined };

/** An answer that has begun: its events up to the first content, and where the rest comes from. */
export interface BegunAnswer<Event> {
  held: readonly Event[];
  rest: AsyncIterator<Event>;
  /** Called when the answer has come to its end. */
  complete(): void;
  /** What to throw in place of a failure of the rest. */
  describe(failure: unknown): unknown;
}

/**
 * The events of an answer, from its route on. Lazy: `begin` is called by the first pull. An
 * iterator by hand, because a generator would cost each piece of a stream three turns of the
 * microtask queue where this one takes one.
 */
export class OpenedAnswer<Event = CanonicalEvent> implements AsyncIterableIterator<Event> {
  private answer: BegunAnswer<Event> | undefined;
  private nextHeld = 0;
  private isOver = false;
  private readonly onResult = (result: IteratorResult<Event>): IteratorResult<Event> => {
    if (result.done) {
      this.isOver = true;
      this.answer!.complete();
    }
    return result;
  };
  private readonly onFailure = (failure: unknown): never => {
    this.isOver = true;
    throw this.answer!.describe(failure);
  };

  constructor(private readonly begin: () => Promise<BegunAnswer<Event>>) {}

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<IteratorResult<Event>> {
    if (this.isOver) return Promise.resolve(OVER);
    const { answer } = this;
    if (!answer) return this.start();
    if (this.nextHeld < answer.held.length) {
      return Promise.resolve({ done: false, value: answer.held[this.nextHeld++]! });
    }
    return answer.rest.next().then(this.onResult, this.onFailure);
  }

  async return(): Promise<IteratorResult<Event>> {
    this.isOver = true;
    await this.answer?.rest.return?.();
    return OVER;
  }

  private async start(): Promise<IteratorResult<Event>> {
    try {
      this.answer = await this.begin();
    } catch (error) {
      this.isOver = true;
      throw error;
    }
    return this.next();
  }
}
