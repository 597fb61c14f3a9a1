import { AudioFormatError, type AudioJoiner } from './audio-joiner.js';

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
