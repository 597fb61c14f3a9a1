import { open } from 'node:fs/promises';
import type { SoundLength } from './sound-length.js';

/** Looked at together, so that others have their turn between two. */
const WINDOW_BYTES = 256 * 1024;

/** Finds sound in a file that is shown to it from beginning to end, window by window. */
export interface SoundCounter {
  /** How many bytes behind its own a window has, so that what begins in it is whole. */
  readonly marginBytes: number;
  /**
   * Counts what begins before `end`; the next window begins there. Behind the file's last byte there are zeroes.
   *
   * @returns false where the rest need not be shown
   */
  look(bytes: Buffer, end: number): boolean;
  /** What was found; undefined where there is no sound. */
  read(): SoundLength | undefined;
}

/** The length of a file's sound. */
export async function countSoundOfFile(
  path: string,
  counter: SoundCounter,
): Promise<SoundLength | undefined> {
  const file = await open(path, 'r');
  try {
    const window = Buffer.allocUnsafe(WINDOW_BYTES + counter.marginBytes);
    for (let position = 0; ; position += WINDOW_BYTES) {
      const { bytesRead } = await file.read(window, 0, window.length, position);
      window.fill(0, bytesRead);
      const isOver = bytesRead === 0 || !counter.look(window, Math.min(bytesRead, WINDOW_BYTES));
      if (isOver) return counter.read();
    }
  } finally {
    await file.close();
  }
}

/** Shows a counter sound that comes in pieces of any size; no more than a window of it is kept. */
export class SoundPieces {
  private pieces: Buffer[] = [];
  private waitingBytes = 0;
  private isOver = false;

  constructor(private readonly counter: SoundCounter) {}

  push(bytes: Buffer): void {
    if (this.isOver) return;
    this.pieces.push(bytes);
    this.waitingBytes += bytes.length;
    if (this.waitingBytes >= WINDOW_BYTES + this.counter.marginBytes) this.look(0);
  }

  /** To be called once, when all has come. */
  end(): SoundLength | undefined {
    if (!this.isOver) this.look(this.counter.marginBytes);
    return this.counter.read();
  }

  private look(zeroes: number): void {
    const window = Buffer.concat(this.pieces, this.waitingBytes + zeroes);
    const end = window.length - this.counter.marginBytes;
    this.isOver = !this.counter.look(window, end);
    this.pieces = [window.subarray(end)];
    this.waitingBytes = window.length - end;
  }
}
