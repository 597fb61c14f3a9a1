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

/**
 * Yields to the event loop after this many events, since a hundred thousand may be ready at once.
 */
export const EVENTS_PER_TURN = 256;

/**
 * An answer with this many events or bytes counts as begun even without content, so that a vendor
 * cannot fill the memory. A relayed response may repeat its instructions first, twice.
 */
const MOST_HELD_EVENTS = 1_000;
const MOST_HELD_BYTES = 64 * 1024 * 1024;

/**
 * Limit of a translated answer: three times what any model can write, as some dialects repeat the
 * answer at the end.
 */
const MOST_CHARACTERS = 16 * 1024 * 1024;
/**
 * Memory that an item (tool call, signed thought, text after another type) takes besides its text.
 */
const CHARACTERS_OF_ITEM = 1_024;

const OVER: IteratorResult<never, undefined> = { done: true, value: undefined };

/** An answer whose content has started: its events up to the first content, and the source of the others. */
export interface StartedAnswer<Event> {
  /** Released once passed on, since each event holds a buffer and the answer may take minutes. */
  held: readonly Event[];
  rest: AsyncIterator<Event>;
  /** Called when the answer is complete. */
  complete(): void;
  /** Translates a failure of the remaining answer for the caller. */
  toError(failure: unknown): unknown;
}

/**
 * Iterates over an answer's events, starting with its route. Lazy: the first pull calls `begin`.
 * Hand-written, because a generator would cost each event three turns of the microtask queue
 * instead of one.
 */
export class OpenedAnswer<
  Event extends CanonicalEvent | WorkEvent<unknown> = CanonicalEvent,
> implements AsyncIterableIterator<Event> {
  private answer: StartedAnswer<Event> | undefined;
  private nextHeld = 0;
  private pulls = 0;
  private characters = 0;
  /** Type of the latest event of the first choice, the only one that is assembled from items. */
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

  /**
   * @param begin called once, then released
   */
  constructor(private begin: (() => Promise<StartedAnswer<Event>>) | undefined) {}

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

/**
 * Pulls events up to the first content, or the limit without any.
 *
 * @throws UpstreamError for an empty answer
 */
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

/** Returns the free route of a replayed answer, named after the original one. */
export function freeRoute({ route }: CachedAnswer): PlannedRoute {
  return {
    ...route,
    pricing: FREE,
    trafficMode: 'shared',
    ceiling: NO_USAGE,
    // No vendor is called.
    limits: { firstByteMs: 0, idleMs: 0, requestMs: 0 },
  };
}

/** Replays a cached answer as if it were just arriving. */
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

function nothing(): AsyncIterator<never, undefined> {
  return { next: () => Promise.resolve({ done: true, value: undefined }) };
}

/** Returns the characters that are buffered for an event until the answer ends. */
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
