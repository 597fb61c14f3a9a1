import { performance } from 'node:perf_hooks';

const CHUNK_EVERY_MS = 50;
const SLOTS = 10;
const SLOT_MS = CHUNK_EVERY_MS / SLOTS;

/**
 * Writes a chunk to each of many streams every 50 ms. The streams are spread over ten slots of
 * 5 ms, as vendors do not write to everybody at once either; one timer serves them all.
 */
export class PacedWriter {
  #slots = Array.from({ length: SLOTS }, () => new Set());
  #added = 0;
  #nextSlot = 0;
  #nextAtMs;

  /** @param chunks the iterator of a stream's events; the response ends after the last one */
  add(chunks, response) {
    this.#slots[this.#added++ % SLOTS].add({ chunks, response });
    if (this.#nextAtMs !== undefined) return;
    this.#nextAtMs = performance.now();
    this.#tick();
  }

  #tick() {
    // Slots that were missed are made up for, so that a late timer does not slow the streams down.
    while (this.#nextAtMs <= performance.now()) {
      this.#write(this.#slots[this.#nextSlot]);
      this.#nextSlot = (this.#nextSlot + 1) % SLOTS;
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
