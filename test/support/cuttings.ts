/** Bytes between two cuts: more than a small event has, and fewer than two large ones. */
const PIECE_BYTES = 64;

/**
 * Ways to cut bytes: some that have a cut between any two of them in turn, each with several more, and some with
 * one cut alone, which leave whole events before and behind it. To cut in two everywhere would take many
 * times as long.
 *
 * @param stepBytes between two of those cuts; a prime, so that they fall on every kind of place in what repeats itself
 */
export function cuttingsOf(bytes: Buffer, stepBytes = 29): Buffer[][] {
  const cuttings: Buffer[][] = [];
  for (let first = 1; first <= Math.min(PIECE_BYTES, bytes.length - 1); first++) {
    const pieces = [bytes.subarray(0, first)];
    for (let start = first; start < bytes.length; start += PIECE_BYTES) {
      pieces.push(bytes.subarray(start, start + PIECE_BYTES));
    }
    cuttings.push(pieces);
  }
  for (let cut = stepBytes; cut < bytes.length; cut += stepBytes) {
    cuttings.push([bytes.subarray(0, cut), bytes.subarray(cut)]);
  }
  return cuttings;
}
