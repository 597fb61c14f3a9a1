import pLimit from 'p-limit';
import type { CancelSignal } from '../../../canonical/cancel-signal.js';
import type { MediaFile, MediaProgress } from '../../media-work.js';
import { CallAbortedError } from '../../transport/upstream-response.js';
import { unreadable } from '../../upstream-error.js';

/** So much of an answer is taken in beside others; what is more waits for its turn. */
const BESIDE_OTHERS_BYTES = 16 * 1024 * 1024;

/** What one answer may have, with the files that it has addresses of. */
export const MAX_MEDIA_BYTES = 400 * 1024 * 1024;

/**
 * Has a vendor's large answers taken in one after the other. Each is in memory until its files have been
 * read, and eight at once of what one may have are some gigabytes.
 */
export class MediaRoom {
  private readonly turns = pLimit(1);

  /** What the work takes in stays until the files that it makes are read or left. */
  async hold<Progress extends MediaProgress>(
    signal: CancelSignal,
    work: (stay: MediaStay) => Promise<Progress>,
  ): Promise<Progress> {
    const stay = this.enter(signal);
    try {
      const progress = await work(stay);
      if (progress.state === 'done') return { ...progress, files: stay.until(progress.files) };
      stay.end();
      return progress;
    } catch (error) {
      stay.end();
      throw error;
    }
  }

  /** To be ended by whoever enters. */
  enter(signal: CancelSignal): MediaStay {
    return new MediaStay(() => this.turn(signal));
  }

  /** @returns what ends it @throws CallAbortedError when nobody waits for it any more */
  private turn(signal: CancelSignal): Promise<() => void> {
    return new Promise((resolve, reject) => {
      const onAbort = (): void => reject(new CallAbortedError());
      signal.addEventListener('abort', onAbort);
      void this.turns(() => {
        signal.removeEventListener('abort', onAbort);
        // Of one that nobody waits for any more it is over at once.
        return signal.aborted ? undefined : new Promise<void>((end) => resolve(() => end()));
      });
    });
  }
}

/** An answer's part of the room. */
export class MediaStay {
  private bytes = 0;
  private endTurn: (() => void) | undefined;

  constructor(private readonly turn: () => Promise<() => void>) {}

  /** To be awaited for whatever stays in memory. @throws UpstreamError `unreadable` for too much, CallAbortedError */
  async take(bytes: number): Promise<void> {
    this.bytes += bytes;
    if (this.bytes > MAX_MEDIA_BYTES) throw unreadable(`more than ${MAX_MEDIA_BYTES} bytes`);
    if (this.bytes > BESIDE_OTHERS_BYTES) this.endTurn ??= await this.turn();
  }

  end(): void {
    this.endTurn?.();
  }

  /** The files; the stay ends with the last of them to be read or left. */
  until(files: readonly MediaFile[]): MediaFile[] {
    const open = new Set(files);
    return files.map((file) => ({
      contentType: file.contentType,
      bytes: new EndingBytes(file.bytes, () => {
        open.delete(file);
        if (open.size === 0) this.end();
      }),
    }));
  }
}

/** Bytes that tell when nobody reads on, be it before the first. */
class EndingBytes implements AsyncIterable<Buffer>, AsyncIterator<Buffer> {
  private readonly source: AsyncIterator<Buffer>;

  constructor(
    source: AsyncIterable<Buffer>,
    private readonly onEnd: () => void,
  ) {
    this.source = source[Symbol.asyncIterator]();
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async next(): Promise<IteratorResult<Buffer>> {
    let isOver = true;
    try {
      const result = await this.source.next();
      isOver = result.done === true;
      return result;
    } finally {
      if (isOver) this.onEnd();
    }
  }

  async return(): Promise<IteratorResult<Buffer>> {
    this.onEnd();
    await this.source.return?.();
    return { done: true, value: undefined };
  }
}
