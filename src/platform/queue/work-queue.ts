const FIRST_DELAY_MS = 1_000;

const LONGEST_DELAY_MS = 60_000;

const MAX_RETRIES = 10;
/** The topics that workers are woken for, each a separate queue. */
export const TOPICS = ['jobs', 'responses', 'webhooks', 'broadcast'] as const;
export type Topic = (typeof TOPICS)[number];

/** How many wake-ups a topic has. */
export interface QueueDepth {
  /** Due and not yet taken by a worker. */
  readonly waiting: number;
  /** Due later. */
  readonly delayed: number;
  /** In progress. */
  readonly active: number;
}

export interface WakeOptions {
  /** Earliest delivery from now, in milliseconds. */
  readonly delayMs?: number;
}

export interface ConsumeOptions {
  /** How many wake-ups of this topic this process handles at once. */
  readonly concurrency: number;
  /** Called when `stop` begins, for consumers that want to finish sooner. */
  readonly onStop?: () => void;
}

/**
 * Works on the row that `key` names. May be called again for the same key, after a crash or outage even on two
 * instances at once, and for a row that is done or gone: the row decides. When it throws, the wake-up is
 * delivered again after 1 s, 2 s and so on up to 60 s, ten times.
 */
export type Consumer = (key: string) => Promise<void>;

/**
 * Wakes workers at least once per call, on any instance. Carries keys only: the work itself is a row of the
 * database, which its owner also sweeps, so that a lost queue delays work and loses none.
 */
export abstract class WorkQueue {
  /** Where wake-ups are stored, for `/readyz`. */
  abstract readonly kind: 'redis' | 'database';

  /**
   * Wakes a worker for `key`. Without a delay it also reaches a key in progress, whose worker then runs again.
   * Undelayed wake-ups of a waiting key are merged; delayed ones are separate.
   *
   * @throws Error when the queue is not reachable within 2 s
   */
  abstract wake(topic: Topic, key: string, options?: WakeOptions): Promise<void>;

  /** Starts taking the topic's wake-ups in this process; call it once per topic. */
  abstract consume(topic: Topic, consumer: Consumer, options: ConsumeOptions): Promise<void>;

  /** @throws Error when the queue is not reachable within 2 s */
  abstract check(): Promise<void>;

  /** @throws Error when the queue is not reachable within 2 s */
  abstract depths(): Promise<Readonly<Record<Topic, QueueDepth>>>;

  /**
   * Takes no more wake-ups and waits up to the limit for running consumers. Other instances take over what they
   * leave. Waking still works afterwards.
   */
  abstract stop(limitMs: number): Promise<void>;
}

/**
 * Returns the delay in milliseconds after a consumer's `failures`-th failure in a row (from 1); undefined to
 * drop the wake-up.
 */
export function retryDelayMs(failures: number): number | undefined {
  if (failures > MAX_RETRIES) return undefined;
  return Math.min(FIRST_DELAY_MS * 2 ** (failures - 1), LONGEST_DELAY_MS);
}
