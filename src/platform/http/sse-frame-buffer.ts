const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;
const NOTHING = -1;

/**
 * Splits a byte stream at the blank lines that end server-sent events, wherever the network split it.
 * Does not decode, so split characters do not matter, and relays can pass the bytes on uncopied.
 */
export class SseFrameBuffer {
  private pieces: Buffer[] = [];
  private pendingBytes = 0;
  /** The last two pending bytes: a blank line can span chunks. */
  private last = NOTHING;
  private beforeLast = NOTHING;

  /** @param maxFrameBytes the longest event */
  constructor(private readonly maxFrameBytes: number) {}

  /**
   * @returns the bytes up to the last blank line so far; undefined without one
   * @throws RangeError when an event exceeds the limit
   */
  push(chunk: Buffer): Buffer | undefined {
    const end = this.endOfLastFrame(chunk);
    if (end === 0) {
      this.keep(chunk);
      return undefined;
    }
    const ending = end === chunk.length ? chunk : chunk.subarray(0, end);
    const frames = this.pendingBytes === 0 ? ending : Buffer.concat([...this.pieces, ending]);
    this.pieces = [];
    this.pendingBytes = 0;
    this.last = NOTHING;
    this.beforeLast = NOTHING;
    if (end < chunk.length) this.keep(chunk.subarray(end));
    return frames;
  }

  /** Returns the rest when the stream ends: an event without its blank line, or nothing. */
  rest(): Buffer {
    return Buffer.concat(this.pieces);
  }

  /**
   * Returns the offset after the last blank line of the chunk, 0 without one. A loop, because the blank
   * line is usually at the very end, and a native search costs more than reading a few hundred bytes.
   */
  private endOfLastFrame(chunk: Buffer): number {
    for (let at = chunk.length - 1; at >= 0; at--) {
      if (chunk[at] !== LINE_FEED) continue;
      const before = at > 0 ? chunk[at - 1] : this.last;
      if (before === LINE_FEED) return at + 1;
      if (before !== CARRIAGE_RETURN) continue;
      const first = at > 1 ? chunk[at - 2] : at === 1 ? this.last : this.beforeLast;
      if (first === LINE_FEED) return at + 1;
    }
    return 0;
  }

  private keep(piece: Buffer): void {
    if (piece.length === 0) return;
    this.beforeLast = piece.length > 1 ? piece[piece.length - 2]! : this.last;
    this.last = piece[piece.length - 1]!;
    this.pieces.push(piece);
    this.pendingBytes += piece.length;
    if (this.pendingBytes > this.maxFrameBytes) {
      throw new RangeError(`an event of more than ${this.maxFrameBytes} bytes`);
    }
  }
}
