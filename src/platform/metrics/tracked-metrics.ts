import { Counter, Gauge, Registry, type Aggregator } from 'prom-client';
import { within } from '../time/within.js';

/** A scrape waits no longer for one value, such as one from an unresponsive database. */
const READ_LIMIT_MS = 750;

/** One value of a metric with labels. */
export interface LabelledValue {
  readonly labels: Record<string, string>;
  readonly value: number;
}

/** Metrics whose values are read at scrape time. */
export class TrackedMetrics {
  readonly registry = new Registry();
  private readonly redisUses = new Map<string, () => boolean>();

  constructor() {
    this.trackEach(
      'gateway_redis_degraded',
      '1 while a use of Redis does without it, by use.',
      ['use'],
      () =>
        [...this.redisUses].map(([use, isDegraded]) => ({
          labels: { use },
          value: Number(isDegraded()),
        })),
      'max',
    );
  }

  /** Adds a gauge that is read at scrape time. */
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

  /** Adds a counter that is read at scrape time. */
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
   * Adds a gauge with labels that is read at scrape time. Values that cannot be read are omitted.
   *
   * @param aggregator how the values of one machine's workers are combined
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

  /** Reports whether a use of Redis currently does without it. */
  trackRedis(use: string, isDegraded: () => boolean): void {
    this.redisUses.set(use, isDegraded);
  }

  /** Adds a gauge that all instances share: the workers of one machine report the same value. */
  trackShared(
    name: string,
    help: string,
    labelNames: string[],
    read: () => Promise<readonly LabelledValue[]>,
  ): void {
    this.trackEach(name, help, labelNames, read, 'first');
  }
}
