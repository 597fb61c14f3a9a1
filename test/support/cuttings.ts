/** Bytes between two cuts: larger than a small event and smaller than two large ones. */
const PIECE_BYTES = 64;

/**
 * Ways to cut bytes. Some have several cuts, which together fall between any two bytes; some have one
 * cut that leaves whole events before and after it. Single cuts everywhere would take many times as long.
 *
 * @param stepBytes distance between the single cuts; a prime, so that they hit every position of repetitive content
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
