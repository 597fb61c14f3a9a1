import { Canceller, type CancelSignal } from '../../../canonical/cancel-signal.js';
import type { CallLimits } from '../../upstream.js';

/** Concurrent calls per request. */
const AT_ONCE = 8;

/** The limits and signal for each call of a batch. */
export interface BatchCall {
  readonly limits: CallLimits;
  readonly signal: CancelSignal;
}

/**
 * Splits work over several concurrent calls and joins their answers in batch order. All calls together
 * share the time limit. The first failure cancels the others.
 *
 * @throws whatever the first failed call throws
 */
export async function runBatches<Batch, Answer>(
  batches: readonly Batch[],
  { limits, signal }: BatchCall,
  send: (batch: Batch, call: BatchCall) => Promise<Answer>,
): Promise<Answer[]> {
  const deadlineMs = performance.now() + limits.requestMs;
  const stop = new BatchCanceller(signal);
  const onAbort = (): void => stop.abort();
  if (signal.aborted) stop.abort();
  signal.addEventListener('abort', onAbort);

  const answers: Answer[] = [];
  const failures: unknown[] = [];
  const queue = batches.entries();
  const work = async (): Promise<void> => {
    for (const [index, batch] of queue) {
      if (failures.length > 0) return;
      stop.isEnding = signal.isEnding ?? false;
      const requestMs = Math.max(1, Math.ceil(deadlineMs - performance.now()));
      try {
        answers[index] = await send(batch, {
          limits: { ...limits, requestMs },
          signal: stop,
        });
      } catch (error) {
        failures.push(error);
        stop.abort();
        return;
      }
    }
  };
  try {
    await Promise.all(Array.from({ length: Math.min(AT_ONCE, batches.length) }, work));
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
  if (failures.length > 0) throw failures[0];
  return answers;
}

/** Cancels the calls of one request together and forwards their notifications. */
class BatchCanceller extends Canceller {
  constructor(private readonly whole: CancelSignal) {
    super();
  }

  noteSent(): void {
    this.whole.noteSent?.();
  }
}
