const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;

/** Longest piece of a blank line's end that can hang over from the bytes before: `\n\r`. */
const OVERHANG_BYTES = 2;

/**
 * Cuts a byte stream at the blank lines that end server-sent events, wherever the network split
 * it. Bytes are not decoded, so a character split over chunks is no concern here.
 */
export class SseFrameBuffer {
  private pieces: Buffer[] = [];
  private pendingBytes = 0;

  /** @param maxFrameBytes more than this without a blank line is no event */
  constructor(private readonly maxFrameBytes: number) {}

  /**
   * @returns the bytes up to the last blank line so far, or undefined while there is none
   * @throws RangeError when an event grows beyond the limit
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

  /** What is left when the stream ends: an event without its blank line, or nothing. */
  rest(): Buffer {
    return Buffer.concat(this.pieces);
  }

  /** The last bytes so far, however small the pieces in which they came. */
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

/** Offset after the last blank line in `bytes`, 0 when there is none. */
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
