/**
 * Lets a few pieces of work run at once and the others wait in line. For statements that may take
 * long: all together they could hold every connection of the pool, for which the ledger waits too.
 */
export class Turnstile {
  private running = 0;
  private readonly waiting: (() => void)[] = [];

  constructor(private readonly limit: number) {}

  async run<Result>(work: () => Promise<Result>): Promise<Result> {
    if (this.running < this.limit) this.running++;
    else await new Promise<void>((resolve) => this.waiting.push(resolve));
    try {
      return await work();
    } finally {
      // The place passes to the next in line, so nobody who comes later gets ahead.
      const next = this.waiting.shift();
      if (next) next();
      else this.running--;
    }
  }
}
