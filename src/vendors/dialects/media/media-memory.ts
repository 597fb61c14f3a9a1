import pLimit from 'p-limit';
import type { CancelSignal } from '../../../canonical/cancel-signal.js';
import type { MediaFile, MediaProgress } from '../../media-work.js';
import { CallAbortedError } from '../../transport/upstream-response.js';
import { unreadable } from '../../upstream-error.js';

/** Memory that each answer may use concurrently; beyond it, answers queue. */
const BESIDE_OTHERS_BYTES = 16 * 1024 * 1024;

/** Memory limit of one answer, including the linked files. */
export const MAX_MEDIA_BYTES = 400 * 1024 * 1024;

/**
 * Limits the memory for a vendor's large answers by reading them one at a time. Each stays in memory until
 * its files have been read, and eight of maximum size would take several gigabytes.
 */
export class MediaMemory {
  private readonly turns = pLimit(1);

  /** Runs work whose reservation lasts until the resulting files are read or skipped. */
  async hold<Progress extends MediaProgress>(
    signal: CancelSignal,
    work: (reservation: MediaReservation) => Promise<Progress>,
  ): Promise<Progress> {
    const reservation = this.enter(signal);
    try {
      const progress = await work(reservation);
      if (progress.state === 'done')
        return { ...progress, files: reservation.until(progress.files) };
      reservation.end();
      return progress;
    } catch (error) {
      reservation.end();
      throw error;
    }
  }

  /** Returns a reservation that the caller must end. */
  enter(signal: CancelSignal): MediaReservation {
    return new MediaReservation(() => this.turn(signal));
  }

  /** @returns a function that ends the slot @throws CallAbortedError when the signal fires */
  private turn(signal: CancelSignal): Promise<() => void> {
    return new Promise((resolve, reject) => {
      const onAbort = (): void => reject(new CallAbortedError());
      signal.addEventListener('abort', onAbort);
      void this.turns(() => {
        signal.removeEventListener('abort', onAbort);
        // Skip the slot when its caller is gone.
        return signal.aborted ? undefined : new Promise<void>((end) => resolve(() => end()));
      });
    });
  }
}

/** One answer's memory reservation. */
export class MediaReservation {
  private bytes = 0;
  private releaseSlot: (() => void) | undefined;

  constructor(private readonly turn: () => Promise<() => void>) {}

  /** Await before keeping bytes in memory. @throws UpstreamError `unreadable` beyond the limit, CallAbortedError */
  async take(bytes: number): Promise<void> {
    this.bytes += bytes;
    if (this.bytes > MAX_MEDIA_BYTES) throw unreadable(`more than ${MAX_MEDIA_BYTES} bytes`);
    if (this.bytes > BESIDE_OTHERS_BYTES) this.releaseSlot ??= await this.turn();
  }

  end(): void {
    this.releaseSlot?.();
  }

  /** Wraps the files so that the reservation ends when the last one is read or skipped. */
  until(files: readonly MediaFile[]): MediaFile[] {
    const open = new Set(files);
    return files.map((file) => ({
      contentType: file.contentType,
      bytes: new NotifyingBytes(file.bytes, () => {
        open.delete(file);
        if (open.size === 0) this.end();
      }),
    }));
  }
}

/** Bytes that notify when reading ends, even before the first read. */
class NotifyingBytes implements AsyncIterable<Buffer>, AsyncIterator<Buffer> {
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
