/** How many keys may wait for an origin in this process; others are left to the sweep. */
const MAX_WAITING = 1_000;

interface Turns {
  running: number;
  readonly waiting: Set<string>;
}

/**
 * Lets a few works for one origin run at once. Those that come when it is busy wait without
 * holding anybody up: whoever is done with one takes the next.
 */
export class OriginTurns {
  private readonly origins = new Map<string, Turns>();

  constructor(private readonly maxAtOnce: number) {}

  /** Works on the key, and then on others of the origin; at once over when the origin is busy. */
  async run(origin: string, key: string, work: (key: string) => Promise<void>): Promise<void> {
    const turns = this.origins.get(origin) ?? { running: 0, waiting: new Set() };
    this.origins.set(origin, turns);
    if (turns.running >= this.maxAtOnce) {
      if (turns.waiting.size < MAX_WAITING) turns.waiting.add(key);
      return;
    }
    turns.running++;
    try {
      let next: string | undefined = key;
      while (next !== undefined) {
        await work(next);
        [next] = turns.waiting;
        if (next !== undefined) turns.waiting.delete(next);
      }
    } finally {
      turns.running--;
      // Nobody is left to take what waits, unless others run; the sweep calls for it again.
      if (turns.running === 0) this.origins.delete(origin);
    }
  }
}
