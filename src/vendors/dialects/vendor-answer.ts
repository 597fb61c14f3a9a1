import type { CanonicalEvent } from '../../canonical/canonical-event.js';

/** Where events come from once the vendor answers: all are there, or one follows the other. */
export type AnswerEvents = readonly CanonicalEvent[] | AsyncIterator<CanonicalEvent>;

const OVER: IteratorResult<never, undefined> = { done: true, value: undefined };

/** The first event of an answer, with the vendor's id of it where it has one. */
export function startEvent(id: unknown): CanonicalEvent {
  return typeof id === 'string' && id !== '' ? { type: 'start', id } : { type: 'start' };
}

/**
 * The answer of a vendor, who is asked by the first pull. By hand, because a generator that hands
 * another's events on would cost each piece of a stream several turns of the microtask queue.
 */
export class VendorAnswer implements AsyncIterableIterator<CanonicalEvent> {
  private events: AsyncIterator<CanonicalEvent> | undefined;
  private isOver = false;

  /**
   * @param ask calls the vendor, once; let go of then, as it has the request
   * @param describe what to throw in place of a failure of `ask`; failures of the events after it
   *   are thrown as they come
   */
  constructor(
    private ask: (() => Promise<AnswerEvents>) | undefined,
    private readonly describe: (failure: unknown) => unknown,
  ) {}

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<IteratorResult<CanonicalEvent>> {
    if (this.isOver) return Promise.resolve(OVER);
    return this.events ? this.events.next() : this.begin();
  }

  async return(): Promise<IteratorResult<CanonicalEvent>> {
    this.isOver = true;
    await this.events?.return?.();
    return OVER;
  }

  private async begin(): Promise<IteratorResult<CanonicalEvent>> {
    const ask = this.ask!;
    this.ask = undefined;
    let events: AnswerEvents;
    try {
      events = await ask();
    } catch (error) {
      this.isOver = true;
      throw this.describe(error);
    }
    this.events = isIterator(events) ? events : new GivenEvents(events);
    return this.events.next();
  }
}

function isIterator(events: AnswerEvents): events is AsyncIterator<CanonicalEvent> {
  return 'next' in events;
}

/** Events that are all there. */
class GivenEvents implements AsyncIterator<CanonicalEvent> {
  private nextEvent = 0;

  constructor(private readonly events: readonly CanonicalEvent[]) {}

  next(): Promise<IteratorResult<CanonicalEvent>> {
    if (this.nextEvent === this.events.length) return Promise.resolve(OVER);
    return Promise.resolve({ done: false, value: this.events[this.nextEvent++]! });
  }
}
