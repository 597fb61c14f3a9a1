import type { CanonicalEvent } from '../canonical/canonical-event.js';

const OVER: IteratorResult<CanonicalEvent> = { done: true, value: undefined };

/** An answer that has begun: its events up to the first content, and where the rest comes from. */
export interface BegunAnswer {
  held: readonly CanonicalEvent[];
  rest: AsyncIterator<CanonicalEvent>;
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
export class OpenedAnswer implements AsyncIterableIterator<CanonicalEvent> {
  private answer: BegunAnswer | undefined;
  private nextHeld = 0;
  private isOver = false;
  private readonly onResult = (
    result: IteratorResult<CanonicalEvent>,
  ): IteratorResult<CanonicalEvent> => {
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

  constructor(private readonly begin: () => Promise<BegunAnswer>) {}

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<IteratorResult<CanonicalEvent>> {
    if (this.isOver) return Promise.resolve(OVER);
    const { answer } = this;
    if (!answer) return this.start();
    if (this.nextHeld < answer.held.length) {
      return Promise.resolve({ done: false, value: answer.held[this.nextHeld++]! });
    }
    return answer.rest.next().then(this.onResult, this.onFailure);
  }

  async return(): Promise<IteratorResult<CanonicalEvent>> {
    this.isOver = true;
    await this.answer?.rest.return?.();
    return OVER;
  }

  private async start(): Promise<IteratorResult<CanonicalEvent>> {
    try {
      this.answer = await this.begin();
    } catch (error) {
      this.isOver = true;
      throw error;
    }
    return this.next();
  }
}
