const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;

/** The longest part of a blank line that can span two chunks: `\n\r`. */
const OVERHANG_BYTES = 2;

/** Splits a byte stream at the blank lines that end server-sent events, wherever the network split it. Does not decode, so split characters do not matter. */
export class SseFrameBuffer {
  private pieces: Buffer[] = [];
  private pendingBytes = 0;

  /** @param maxFrameBytes the longest event */
  constructor(private readonly maxFrameBytes: number) {}

  /**
   * @returns the bytes up to the last blank line so far; undefined without one
   * @throws RangeError when an event exceeds the limit
   */
  push(chunk: Buffer): Buffer | undefined {
    if (this.pendingBytes === 0) {
      const end = endOfLastFrame(chunk);
      if (end === chunk.length) return chunk;
      this.keep(chunk.subarray(end));
      return end === 0 ? undefined : chunk.subarray(0, end);
    }

    const overhang = this.overhang();
    const end = endOfLastFrame(Buffer.concat([overhang, chunk])) - overhang.length;
    if (end <= 0) {
      this.keep(chunk);
      return undefined;
    }
    const frames = Buffer.concat([...this.pieces, chunk.subarray(0, end)]);
    this.pieces = [];
    this.pendingBytes = 0;
    if (end < chunk.length) this.keep(chunk.subarray(end));
    return frames;
  }

  /** Returns the rest when the stream ends: an event without its blank line, or nothing. */
  rest(): Buffer {
    return Buffer.concat(this.pieces);
  }

  /** Returns the last bytes, however small the pieces they came in. */
  private overhang(): Buffer {
    let tail = Buffer.alloc(0);
    for (let index = this.pieces.length - 1; index >= 0; index--) {
      tail = Buffer.concat([this.pieces[index]!.subarray(-OVERHANG_BYTES), tail]);
      if (tail.length >= OVERHANG_BYTES) break;
    }
    return tail.subarray(-OVERHANG_BYTES);
  }

  private keep(piece: Buffer): void {
    this.pieces.push(piece);
    this.pendingBytes += piece.length;
    if (this.pendingBytes > this.maxFrameBytes) {
      throw new RangeError(`an event of more than ${this.maxFrameBytes} bytes`);
    }
  }
}

/** Returns the offset after the last blank line in `bytes`, 0 without one. */
function endOfLastFrame(bytes: Buffer): number {
  let end = bytes.lastIndexOf('\n\n');
  end = end === -1 ? 0 : end + 2;
  if (bytes.includes(CARRIAGE_RETURN)) {
    const windows = bytes.lastIndexOf('\n\r\n');
    if (windows !== -1) end = Math.max(end, windows + 3);
  }
  while (end > 0 && bytes[end] === LINE_FEED) end++;
  return end;
}
