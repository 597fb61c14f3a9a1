import { Counter, Gauge, Registry, type Aggregator } from 'prom-client';
import { within } from '../time/within.js';

/** A scrape waits no longer for one figure, such as one of a database that has fallen silent. */
const READ_LIMIT_MS = 750;

/** One value of a metric with labels. */
export interface LabelledValue {
  readonly labels: Record<string, string>;
  readonly value: number;
}

/** Metrics whose values their owners know anyway, and that are read when metrics are scraped. */
export class TrackedMetrics {
  readonly registry = new Registry();
  private readonly redisUses = new Map<string, () => boolean>();

  constructor() {
    this.trackEach(
      'gateway_redis_degraded',
      '1 while what Redis is used for has to do without it, by what that is.',
      ['use'],
      () =>
        [...this.redisUses].map(([use, isDegraded]) => ({
          labels: { use },
          value: Number(isDegraded()),
        })),
      'max',
    );
  }

  /** A gauge whose value is read when metrics are scraped. */
  track(name: string, help: string, read: () => number): void {
    const { registry } = this;
    new Gauge({
      name,
      help,
      registers: [registry],
      collect() {
        this.set(read());
      },
    });
  }

  /** The same of a figure that only grows. */
  trackTotal(name: string, help: string, read: () => number): void {
    const { registry } = this;
    new Counter({
      name,
      help,
      registers: [registry],
      collect() {
        this.reset();
        this.inc(read());
      },
    });
  }

  /**
   * A gauge with labels, read when metrics are scraped. What cannot be read is left out.
   *
   * @param aggregator what the workers of one machine make of their values together
   */
  trackEach(
    name: string,
    help: string,
    labelNames: string[],
    read: () => readonly LabelledValue[] | Promise<readonly LabelledValue[]>,
    aggregator: Aggregator = 'sum',
  ): void {
    const { registry } = this;
    new Gauge({
      name,
      help,
      labelNames,
      registers: [registry],
      aggregator,
      async collect() {
        let values: readonly LabelledValue[] = [];
        try {
          const reading = Promise.resolve(read());
          values = await within(READ_LIMIT_MS, reading, () => []);
        } catch {
          // Its absence says so.
        }
        this.reset();
        for (const { labels, value } of values) this.set(labels, value);
      },
    });
  }

  /** Whether one of the things that Redis is for has to do without it just now. */
  trackRedis(use: string, isDegraded: () => boolean): void {
    this.redisUses.set(use, isDegraded);
  }

  /** The same of something that all instances share: several workers of one machine say the same. */
  trackShared(
    name: string,
    help: string,
    labelNames: string[],
    read: () => Promise<readonly LabelledValue[]>,
  ): void {
    this.trackEach(name, help, labelNames, read, 'first');
  }
}
