/** Joins samples without a header. Drops an incomplete sample at the end of a piece, which would shift all later ones. */
export class PlainJoiner implements AudioJoiner {
  private rest: Buffer = Buffer.alloc(0);
  private pieceBytes = 0;

  /** @param frameBytes bytes of one sample of all channels */
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
 * Joins files of the same format into one, piece by piece. The outputs form the file's body in order.
 * Formats whose header contains the length provide the header last.
 */
export interface AudioJoiner {
  /** Adds the next bytes of the piece. @returns the parts of the body that are ready. @throws AudioFormatError */
  push(bytes: Buffer): Buffer[];
  /** Ends the piece. @throws AudioFormatError for a truncated piece or one without audio */
  endPiece(): Buffer[];
  /** Ends the last piece. */
  end(): Buffer[];
  /** Returns the header, after `end`, for formats whose header contains the length. */
  header?(): Buffer;
}

/** Thrown for audio that is not in the expected format. */
export class AudioFormatError extends Error {
  constructor(message: string) {
    super(message);
    this.name = AudioFormatError.name;
  }
}
