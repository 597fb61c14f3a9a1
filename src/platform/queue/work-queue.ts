const FIRST_DELAY_MS = 1_000;

const LONGEST_DELAY_MS = 60_000;

const MAX_RETRIES = 10;
/** What workers are woken for; each is a queue of its own. */
export const TOPICS = ['jobs', 'responses', 'webhooks', 'broadcast'] as const;
export type Topic = (typeof TOPICS)[number];

/** How many wake-ups a topic has. */
export interface QueueDepth {
  /** Due, and not taken by a worker yet. */
  readonly waiting: number;
  /** Due later. */
  readonly delayed: number;
  /** Being worked on. */
  readonly active: number;
}

export interface WakeOptions {
  /** Not before this long from now. */
  readonly delayMs?: number;
}

export interface ConsumeOptions {
  /** Wake-ups of this topic that this process works on at once. */
  readonly concurrency: number;
  /** Called when `stop` begins, for whoever wants to be done sooner. */
  readonly onStop?: () => void;
}

/**
 * Works on what `key` names, a row's id as a rule. It may be called for the same key again, after a
 * crash or an outage also on two instances at the same time, and for a row that is done or gone: the
 * row decides. When it throws, the wake-up comes again later: after 1 s, 2 s and so on up to 60 s,
 * ten times.
 */
export type Consumer = (key: string) => Promise<void>;

/**
 * Wakes workers, at least once for each call, on any instance. It carries keys only: what is to be
 * done stands in a row of the database, which its owner also looks through from time to time, so
 * that a lost queue delays work and loses none.
 */
export abstract class WorkQueue {
  /** Where wake-ups are kept, for `/readyz`. */
  abstract readonly kind: 'redis' | 'database';

  /**
   * Wakes a worker for `key`. Without a delay it also reaches a key that is being worked on right
   * now: its worker is woken once more afterwards. Wake-ups without a delay of a key that waits
   * anyway are one; those with a delay are each their own.
   *
   * @throws Error when the queue cannot be reached within 2 s
   */
  abstract wake(topic: Topic, key: string, options?: WakeOptions): Promise<void>;

  /** From now on this process takes the topic's wake-ups; to be called once a topic. */
  abstract consume(topic: Topic, consumer: Consumer, options: ConsumeOptions): Promise<void>;

  /** @throws Error when the queue cannot be reached within 2 s */
  abstract check(): Promise<void>;

  /** @throws Error when the queue cannot be reached within 2 s */
  abstract depths(): Promise<Readonly<Record<Topic, QueueDepth>>>;

  /**
   * Takes no more wake-ups and waits, up to the limit, for the consumers that run. What they leave
   * behind goes to another instance. Others can still be woken afterwards.
   */
  abstract stop(limitMs: number): Promise<void>;
}

/**
 * How long a wake-up waits whose consumer has thrown for the `failures`-th time in a row (from 1
 * on), in milliseconds; undefined when it is to be dropped.
 */
export function retryDelayMs(failures: number): number | undefined {
  if (failures > MAX_RETRIES) return undefined;
  return Math.min(FIRST_DELAY_MS * 2 ** (failures - 1), LONGEST_DELAY_MS);
}
