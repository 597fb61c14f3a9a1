/** Some 120 bytes each. */
const MAX_PLACES = 50_000;

/** Who has the beginning of a conversation in its cache. */
export interface ConversationPlace {
  /** The alias that answered. */
  readonly model: string;
  readonly provider: string;
  /** Of several of the operator's the one, or a tenant's own; undefined: there is one. */
  readonly account: string | undefined;
}

interface Remembered extends ConversationPlace {
  readonly untilMs: number;
}

/** Where conversations went last, for as long as vendors keep what they have read. */
export class ConversationPlaces {
  /** The one that was used longest ago first. */
  private readonly places = new Map<string, Remembered>();
  /** Told of each conversation that is new here or has moved. */
  onMoved: ((key: string, place: ConversationPlace, ttlMs: number) => void) | undefined;

  constructor(
    private readonly now: () => number = () => performance.now(),
    private readonly maxPlaces = MAX_PLACES,
  ) {}

  get size(): number {
    return this.places.size;
  }

  of(key: string): ConversationPlace | undefined {
    const place = this.places.get(key);
    return place && place.untilMs > this.now() ? place : undefined;
  }

  /** A conversation was answered there. */
  note(key: string, place: ConversationPlace, ttlMs: number): void {
    const before = this.of(key);
    this.learn(key, place, ttlMs);
    if (!before || !isSame(before, place)) this.onMoved?.(key, place, ttlMs);
  }

  /** Another instance says so. */
  learn(key: string, { model, provider, account }: ConversationPlace, ttlMs: number): void {
    this.places.delete(key);
    if (this.places.size >= this.maxPlaces) {
      const [oldest] = this.places.keys();
      if (oldest !== undefined) this.places.delete(oldest);
    }
    this.places.set(key, { model, provider, account, untilMs: this.now() + ttlMs });
  }
}

export function isSame(one: ConversationPlace, other: ConversationPlace): boolean {
  return (
    one.model === other.model && one.provider === other.provider && one.account === other.account
  );
}
