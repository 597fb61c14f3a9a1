import { Injectable } from '@nestjs/common';
import type { CancelSignal } from '../../canonical/cancel-signal.js';
import { isOpen, type JobView } from './job.js';
import { JobsRepository } from './jobs.repository.js';

/**
 * Notifies workers and waiting callers in this process when a job ends. Only a shortcut: they also
 * poll the row, since any process can end a job.
 */
@Injectable()
export class JobEndEvents {
  private readonly listeners = new Map<string, Set<() => void>>();

  /** Returns a function that unsubscribes. */
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

const FIRST_LOOK_MS = 200;
const LONGEST_LOOK_MS = 2_000;
const GROWTH = 1.5;

/** Waits for jobs to end in any process. */
@Injectable()
export class JobWaiter {
  constructor(
    private readonly repository: JobsRepository,
    private readonly endEvents: JobEndEvents,
  ) {}

  /** Returns undefined when the caller disconnects first. */
  async wait(tenantId: string, id: string, callerGone: CancelSignal): Promise<JobView | undefined> {
    let wake = (): void => undefined;
    const stir = (): void => wake();
    const unsubscribe = this.endEvents.onEnd(id, stir);
    callerGone.addEventListener('abort', stir);
    try {
      for (let lookMs = FIRST_LOOK_MS; ; lookMs = Math.min(lookMs * GROWTH, LONGEST_LOOK_MS)) {
        const stirred = new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, lookMs);
          wake = () => {
            clearTimeout(timer);
            resolve();
          };
        });
        const job = await this.repository.find(tenantId, id);
        if (job && !isOpen(job.status)) {
          wake();
          return job;
        }
        if (callerGone.aborted) {
          wake();
          return undefined;
        }
        await stirred;
      }
    } finally {
      unsubscribe();
      callerGone.removeEventListener('abort', stir);
    }
  }
}
