import type { CanonicalEvent } from '../../canonical/canonical-event.js';

/** The events of an answer: all at once, or an iterator. */
export type AnswerEvents = readonly CanonicalEvent[] | AsyncIterator<CanonicalEvent>;

const OVER: IteratorResult<never, undefined> = { done: true, value: undefined };

/** Creates the first event of an answer, with the vendor's id when there is one. */
export function startEvent(id: unknown): CanonicalEvent {
  return typeof id === 'string' && id !== '' ? { type: 'start', id } : { type: 'start' };
}

/**
 * An answer whose vendor is called by the first pull. Written by hand: a generator that forwards another
 * one's events would cost each piece of a stream several microtasks.
 */
export class VendorAnswer implements AsyncIterableIterator<CanonicalEvent> {
  private events: AsyncIterator<CanonicalEvent> | undefined;
  private isOver = false;

  /**
   * @param ask calls the vendor, once; released then, because it references the request
   * @param describe maps a failure of `ask` to the error to throw; later failures of the events are
   *   thrown unchanged
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

/** Iterates over events that are all available. */
class GivenEvents implements AsyncIterator<CanonicalEvent> {
  private nextEvent = 0;

  constructor(private readonly events: readonly CanonicalEvent[]) {}

  next(): Promise<IteratorResult<CanonicalEvent>> {
    if (this.nextEvent === this.events.length) return Promise.resolve(OVER);
    return Promise.resolve({ done: false, value: this.events[this.nextEvent++]! });
  }
}
