import { Injectable } from '@nestjs/common';

/**
 * Tells those in this process who work on a job, or wait for it, that it has ended: a short cut.
 * They look at the row from time to time all the same, since it may end in any process.
 */
@Injectable()
export class JobNotices {
  private readonly listeners = new Map<string, Set<() => void>>();

  /** Returns what ends the subscription. */
  onEnd(jobId: string, listener: () => void): () => void {
    const listeners = this.listeners.get(jobId) ?? new Set();
    this.listeners.set(jobId, listeners.add(listener));
    return () => {
      listeners.delete(listener);
      if (listeners.size === 0) this.listeners.delete(jobId);
    };
  }

  ended(jobId: string): void {
    for (const listener of this.listeners.get(jobId) ?? []) listener();
  }
}
