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
