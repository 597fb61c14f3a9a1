/** Samples without a header; a piece that ends within one is cut before it, lest all later ones shift. */
export class PlainJoiner implements AudioJoiner {
  private rest: Buffer = Buffer.alloc(0);
  private pieceBytes = 0;

  /** @param frameBytes of one sample of all channels */
  constructor(private readonly frameBytes: number) {}

  push(bytes: Buffer): Buffer[] {
    const all = this.rest.length === 0 ? bytes : Buffer.concat([this.rest, bytes]);
    const whole = all.length - (all.length % this.frameBytes);
    this.rest = all.subarray(whole);
    this.pieceBytes += whole;
    return whole === 0 ? [] : [all.subarray(0, whole)];
  }

  endPiece(): Buffer[] {
    if (this.pieceBytes === 0) throw new AudioFormatError('a piece without samples');
    this.rest = Buffer.alloc(0);
    this.pieceBytes = 0;
    return [];
  }

  end(): Buffer[] {
    return [];
  }
}
/**
 * Makes one file of several of the same format, piece by piece. What comes out in order is the file's
 * body; formats whose header tells the length give the header last, for whoever wrote the body aside.
 */
export interface AudioJoiner {
  /** The next bytes of the piece. @returns what of the body is ready. @throws AudioFormatError */
  push(bytes: Buffer): Buffer[];
  /** The piece is over. @throws AudioFormatError for a piece that breaks off or holds no audio */
  endPiece(): Buffer[];
  /** All pieces are over. */
  end(): Buffer[];
  /** What stands before the body, of a format that tells there how long it is; after `end`. */
  header?(): Buffer;
}

/** Audio that is not of the format that it should be. */
export class AudioFormatError extends Error {
  constructor(message: string) {
    super(message);
    this.name = AudioFormatError.name;
  }
}
