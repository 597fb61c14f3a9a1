/** Generates the same numbers for the same seed, so that a failing run can be repeated. */
export class Random {
  #state;

  constructor(seed) {
    this.#state = seed | 0;
  }

  /** Returns a fraction in [0, 1). */
  next() {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  below(end) {
    return Math.floor(this.next() * end);
  }

  between(least, most) {
    return least + this.next() * (most - least);
  }

  pick(items) {
    return items[this.below(items.length)];
  }

  shuffle(items) {
    for (let index = items.length - 1; index > 0; index--) {
      const other = this.below(index + 1);
      [items[index], items[other]] = [items[other], items[index]];
    }
    return items;
  }
}
