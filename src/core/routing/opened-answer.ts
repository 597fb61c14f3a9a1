import { setImmediate as nextTurn } from 'node:timers/promises';
import {
  isContent,
  type CanonicalEvent,
  type RouteEvent,
  type WorkEvent,
} from '../../canonical/canonical-event.js';
import { UpstreamError, beyondLimit } from '../../vendors/upstream-error.js';
import type { CachedAnswer } from './cache/cached-answer.js';
import { FREE } from '../../canonical/exact-pricing.js';
import { NO_USAGE } from '../../canonical/usage.js';
import type { RoutableRequest } from '../../canonical/work-request.js';
import type { Plan, PlannedRoute } from './plan.js';

/** After so many events everybody else has a turn: all of them may be there at once, a hundred thousand of them. */
export const EVENTS_PER_TURN = 256;

/**
 * An answer that has brought so much and no content has begun all the same, or a vendor who goes on so would fill
 * the memory. A relayed response may repeat its instructions first, twice.
 */
const MOST_HELD_EVENTS = 1_000;
const MOST_HELD_BYTES = 64 * 1024 * 1024;

/** Of a translated answer: what any model can write in one is a third of it, and some callers' dialects repeat it at the end. */
const MOST_CHARACTERS = 16 * 1024 * 1024;
/** What a call, a signed thought, or a text after something else counts beside what it says: each is kept, however short. */
const CHARACTERS_OF_ITEM = 1_024;

const OVER: IteratorResult<never, undefined> = { done: true, value: undefined };

/** An answer that has begun: its events up to the first content, and where the rest comes from. */
export interface BegunAnswer<Event> {
  /** Taken out once they are passed on: the rest may take minutes, and each of them has a buffer. */
  held: readonly Event[];
  rest: AsyncIterator<Event>;
  /** Called when the answer has come to its end. */
  complete(): void;
  /** What to throw in place of a failure of the rest. */
  toError(failure: unknown): unknown;
}

/**
 * The events of an answer, from its route on. Lazy: `begin` is called by the first pull. An
 * iterator by hand, because a generator would cost each piece of a stream three turns of the
 * microtask queue where this one takes one.
 */
export class OpenedAnswer<
  Event extends CanonicalEvent | WorkEvent<unknown> = CanonicalEvent,
> implements AsyncIterableIterator<Event> {
  private answer: BegunAnswer<Event> | undefined;
  private nextHeld = 0;
  private pulls = 0;
  private characters = 0;
  /** What the first choice, the only one that is put together of items, is made of at the moment. */
  private latestType: CanonicalEvent['type'] | undefined;
  private isOver = false;
  private readonly onResult = (result: IteratorResult<Event>): IteratorResult<Event> => {
    if (result.done) {
      this.isOver = true;
      this.answer!.complete();
    } else {
      this.count(result.value);
      if (this.characters > MOST_CHARACTERS) this.breakOff();
    }
    return result;
  };
  private readonly onFailure = (failure: unknown): never => {
    this.isOver = true;
    throw this.answer!.toError(failure);
  };

  /** @param begin called once, and let go of with all that it was made of */
  constructor(private begin: (() => Promise<BegunAnswer<Event>>) | undefined) {}

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<IteratorResult<Event>> {
    return ++this.pulls % EVENTS_PER_TURN === 0 ? this.pullAfterTurn() : this.pull();
  }

  private async pullAfterTurn(): Promise<IteratorResult<Event>> {
    await nextTurn();
    return this.pull();
  }

  private pull(): Promise<IteratorResult<Event>> {
    if (this.isOver) return Promise.resolve(OVER);
    const { answer } = this;
    if (!answer) return this.start();
    if (this.nextHeld < answer.held.length) {
      const value = answer.held[this.nextHeld++]!;
      if (this.nextHeld === answer.held.length) {
        answer.held = [];
        this.nextHeld = 0;
      }
      return Promise.resolve({ done: false, value });
    }
    return answer.rest.next().then(this.onResult, this.onFailure);
  }

  async return(): Promise<IteratorResult<Event>> {
    this.isOver = true;
    await this.answer?.rest.return?.();
    return OVER;
  }

  private count(event: CanonicalEvent | WorkEvent<unknown>): void {
    if (!('choice' in event)) return;
    const { type, choice } = event;
    this.characters += charactersOf(event);
    if (choice !== 0 || type === this.latestType) return;
    const isFirst = this.latestType === undefined;
    this.latestType = type;
    if (!isFirst && (type === 'text' || type === 'reasoning'))
      this.characters += CHARACTERS_OF_ITEM;
  }

  private breakOff(): never {
    this.answer!.rest.return?.().catch(() => undefined);
    return this.onFailure(beyondLimit(`more than ${MOST_CHARACTERS} characters`));
  }

  private async start(): Promise<IteratorResult<Event>> {
    const begin = this.begin!;
    this.begin = undefined;
    try {
      this.answer = await begin();
    } catch (error) {
      this.isOver = true;
      throw error;
    }
    return this.pull();
  }
}

/** Pulls events up to the first content, or to what is too much without any. @throws UpstreamError where there is none */
export async function pullToContent<Event extends CanonicalEvent | WorkEvent<unknown>>(
  events: AsyncIterator<Event>,
  held: Event[],
): Promise<void> {
  let bytes = 0;
  for (;;) {
    const next = await events.next();
    if (next.done) throw new UpstreamError({ failure: 'unreadable', message: 'an empty answer' });
    const { value } = next;
    held.push(value);
    if (isContent(value)) return;
    if (value.type === 'relay') bytes += value.bytes.length;
    if (held.length >= MOST_HELD_EVENTS || bytes > MOST_HELD_BYTES) return;
  }
}

/** The route of an answer that is given again: named after the one that gave it, and free. */
export function freeRoute({ route }: CachedAnswer): PlannedRoute {
  return {
    ...route,
    pricing: FREE,
    trafficMode: 'shared',
    ceiling: NO_USAGE,
    // Nobody is called, so there is nothing to wait for.
    limits: { firstByteMs: 0, idleMs: 0, requestMs: 0 },
  };
}

/** A kept answer as if it were just coming in; `Event` is what the plan's kind of request is answered with. */
export function replay<Event extends CanonicalEvent | WorkEvent<unknown>>(
  { routes: [route] }: Plan<RoutableRequest>,
  { droppedParams, events }: CachedAnswer,
): OpenedAnswer<Event> {
  const named: RouteEvent = { type: 'route', route, droppedParams };
  return new OpenedAnswer<Event>(() =>
    Promise.resolve({
      held: [named, ...events] as unknown as Event[],
      rest: nothing(),
      complete: () => undefined,
      toError: (failure) => failure,
    }),
  );
}

/** A kept answer is all there from the beginning. */
function nothing(): AsyncIterator<never, undefined> {
  return { next: () => Promise.resolve({ done: true, value: undefined }) };
}

/** What is kept of an event to the answer's end, by one caller or another. */
function charactersOf(event: Extract<CanonicalEvent, { choice: number }>): number {
  switch (event.type) {
    case 'finish':
      return 0;
    case 'tool_call':
      return (
        CHARACTERS_OF_ITEM + event.id.length + event.name.length + (event.signature?.length ?? 0)
      );
    case 'reasoning': {
      const { text, signature } = event;
      return text.length + (signature === undefined ? 0 : CHARACTERS_OF_ITEM + signature.length);
    }
    case 'text': {
      const { text, logprobs } = event;
      return text.length + (logprobs == null ? 0 : JSON.stringify(logprobs).length);
    }
    default:
      return event.text.length;
  }
}
