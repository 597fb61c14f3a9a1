import { open } from 'node:fs/promises';
import type { SoundLength } from './sound-length.js';

/** Bytes scanned at once, so that other work runs in between. */
const WINDOW_BYTES = 256 * 1024;

/** Measures the sound of a file that is passed to it window by window. */
export interface SoundCounter {
  /** Extra bytes after each window, so that anything that begins in it is complete. */
  readonly marginBytes: number;
  /**
   * Counts everything that begins before `end`, where the next window begins. Zeros follow the file's last byte.
   *
   * @returns false when the rest is not needed
   */
  scan(bytes: Buffer, end: number): boolean;
  /** Returns the result; undefined without sound. */
  read(): SoundLength | undefined;
}

/** Measures a file's sound. */
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
      const isOver = bytesRead === 0 || !counter.scan(window, Math.min(bytesRead, WINDOW_BYTES));
      if (isOver) return counter.read();
    }
  } finally {
    await file.close();
  }
}

/** Passes sound in pieces of any size to a counter. Buffers at most one window. */
export class SoundPieces {
  private pieces: Buffer[] = [];
  private waitingBytes = 0;
  private isOver = false;

  constructor(private readonly counter: SoundCounter) {}

  push(bytes: Buffer): void {
    if (this.isOver) return;
    this.pieces.push(bytes);
    this.waitingBytes += bytes.length;
    if (this.waitingBytes >= WINDOW_BYTES + this.counter.marginBytes) this.scan(0);
  }

  /** Returns the result. Call once, after the last piece. */
  end(): SoundLength | undefined {
    if (!this.isOver) this.scan(this.counter.marginBytes);
    return this.counter.read();
  }

  private scan(zeros: number): void {
    const window = Buffer.concat(this.pieces, this.waitingBytes + zeros);
    const end = window.length - this.counter.marginBytes;
    this.isOver = !this.counter.scan(window, end);
    this.pieces = [window.subarray(end)];
    this.waitingBytes = window.length - end;
  }
}
