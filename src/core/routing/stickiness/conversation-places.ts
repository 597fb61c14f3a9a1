import { boundedCache } from '../../../platform/memory/bounded-cache.js';

/** About 120 bytes each. */
const MAX_PLACES = 50_000;

/** The route that has the beginning of a conversation in its cache. */
export interface ConversationPlace {
  /** Alias of the model that answered. */
  readonly model: string;
  readonly provider: string;
  /** One of several operator accounts, or a tenant's own; undefined when there is only one. */
  readonly account: string | undefined;
}

interface Remembered extends ConversationPlace {
  readonly untilMs: number;
}

/** Remembers each conversation's latest route for as long as vendors cache prompts. */
export class ConversationPlaces {
  private readonly places;
  /** Called for each conversation that is new here or has moved. */
  onMoved: ((key: string, place: ConversationPlace, ttlMs: number) => void) | undefined;

  constructor(
    private readonly now: () => number = () => performance.now(),
    maxPlaces = MAX_PLACES,
  ) {
    this.places = boundedCache<string, Remembered>(maxPlaces);
  }

  get size(): number {
    return this.places.size;
  }

  of(key: string): ConversationPlace | undefined {
    const place = this.places.peek(key);
    return place && place.untilMs > this.now() ? place : undefined;
  }

  /** Records where a conversation was answered. */
  note(key: string, place: ConversationPlace, ttlMs: number): void {
    const before = this.of(key);
    this.learn(key, place, ttlMs);
    if (!before || !isSame(before, place)) this.onMoved?.(key, place, ttlMs);
  }

  /** Records another instance's report. */
  learn(key: string, { model, provider, account }: ConversationPlace, ttlMs: number): void {
    this.places.set(key, { model, provider, account, untilMs: this.now() + ttlMs });
  }
}

export function isSame(one: ConversationPlace, other: ConversationPlace): boolean {
  return (
    one.model === other.model && one.provider === other.provider && one.account === other.account
  );
}
