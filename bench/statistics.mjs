/** Returns the median; for an even count, the mean of the two middle values. */
export function median(values) {
  const sorted = [...values].sort((one, other) => one - other);
  const middle = sorted.length / 2;
  return Number.isInteger(middle)
    ? (sorted[middle - 1] + sorted[middle]) / 2
    : sorted[Math.floor(middle)];
}

/** Returns the value that a share of the numbers, such as 0.99, does not exceed. */
export function percentile(values, part) {
  const sorted = Float64Array.from(values).sort();
  return sorted[Math.max(0, Math.ceil(sorted.length * part) - 1)];
}

/** Counts any number of durations by millisecond. */
export class MillisecondHistogram {
  #counts = new Uint32Array(60_000);
  #total = 0;

  add(ms) {
    this.#counts[Math.min(this.#counts.length - 1, Math.max(0, Math.round(ms)))]++;
    this.#total++;
  }

  get total() {
    return this.#total;
  }

  percentile(part) {
    const wanted = Math.ceil(this.#total * part);
    let seen = 0;
    for (let ms = 0; ms < this.#counts.length; ms++) {
      seen += this.#counts[ms];
      if (seen >= wanted) return ms;
    }
    return this.#counts.length;
  }
}
