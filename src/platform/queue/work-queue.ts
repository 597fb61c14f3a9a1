/** The topics that workers are woken for, each a separate queue. */
export const TOPICS = ['jobs', 'responses', 'webhooks', 'broadcast'] as const;
export type Topic = (typeof TOPICS)[number];

export interface WakeOptions {
  /** Earliest delivery from now, in milliseconds. */
  readonly delayMs?: number;
}

/** Receives a woken key. Must return soon and never throw: the work itself runs elsewhere. */
export type Consumer = (key: string) => Promise<void>;

export type Consumers = Readonly<Partial<Record<Topic, Consumer>>>;

/**
 * Carries wake-ups to any instance. A wake-up is a topic and a key, never the work itself: that is a row of the
 * database. Wake-ups may be lost, repeated or late, so the row decides what is due, its claim decides who runs it,
 * and its owner sweeps for rows that no wake-up reached.
 */
export abstract class WorkQueue {
  /** Where wake-ups are stored, for `/readyz`. */
  abstract readonly kind: 'redis' | 'database';

  /** @throws Error when the queue is not reachable within 2 s */
  abstract wake(topic: Topic, key: string, options?: WakeOptions): Promise<void>;

  /** Starts taking wake-ups in this process; call it once. */
  abstract consume(consumers: Consumers): Promise<void>;

  /** @throws Error when the queue is not reachable within 2 s */
  abstract check(): Promise<void>;

  /** Takes no more wake-ups. Waking still works afterwards. */
  abstract stop(): Promise<void>;
}
