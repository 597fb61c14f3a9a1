import { performance } from 'node:perf_hooks';

const SLOT_MS = 5;

/**
 * Writes a chunk to each of many streams at an interval. The streams are spread over slots of 5 ms, as
 * real vendors do not write to all at once; one timer serves them all.
 */
export class PacedWriter {
  #slots;
  #added = 0;
  #nextSlot = 0;
  #nextAtMs;

  constructor(chunkEveryMs) {
    this.#slots = Array.from({ length: chunkEveryMs / SLOT_MS }, () => new Set());
  }

  /** @param chunks the iterator of a stream's events; the response ends after the last one */
  add(chunks, response) {
    this.#slots[this.#added++ % this.#slots.length].add({ chunks, response });
    if (this.#nextAtMs !== undefined) return;
    this.#nextAtMs = performance.now();
    this.#tick();
  }

  #tick() {
    // Catches up on missed slots, so that a late timer does not slow streams down.
    while (this.#nextAtMs <= performance.now()) {
      this.#write(this.#slots[this.#nextSlot]);
      this.#nextSlot = (this.#nextSlot + 1) % this.#slots.length;
      this.#nextAtMs += SLOT_MS;
    }
    if (this.#slots.every((slot) => slot.size === 0)) this.#nextAtMs = undefined;
    else setTimeout(() => this.#tick(), Math.max(0, this.#nextAtMs - performance.now()));
  }

  #write(slot) {
    for (const stream of slot) {
      const next = stream.chunks.next();
      if (next.done) stream.response.end();
      else if (!stream.response.destroyed) stream.response.write(next.value);
      if (next.done || stream.response.destroyed) slot.delete(stream);
    }
  }
}
