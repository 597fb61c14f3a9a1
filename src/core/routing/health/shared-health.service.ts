import { randomUUID } from 'node:crypto';
import type { OnApplicationBootstrap, OnApplicationShutdown } from '@nestjs/common';
import type { InstanceChannel } from '../../../platform/channel/instance-channel.js';
import { boundedCache } from '../../../platform/memory/bounded-cache.js';
import type { RouteHealth } from '../route-health.js';
import { PROBE_EVERY_MS } from './route-memories.js';
import { readName } from './route-names.js';
import { readMessage, writeMessages, type HealthItem } from './health-message.js';

const TOPIC = 'route_health';
/** Changes within this time share a message. */
const GATHER_MS = 25;
const SPEEDS_EVERY_MS = 5_000;
/** Most routes per report of speeds, and per answer to a new instance. */
const MAX_SPEEDS = 200;
/** Lead before the end of a pause in which instances agree on who probes the route. */
const LEAD_MS = 50;
/** Shorter than the time between probes, because messages take time to arrive. */
const TRIES_FOR_MS = PROBE_EVERY_MS - 2 * LEAD_MS;
/** Window in which a few of many instances answer a new one. */
const ANSWER_WITHIN_MS = 400;
/** Instances to remember; the oldest is forgotten beyond that. */
const MAX_INSTANCES = 1_000;

/**
 * The instance that probes a route, and until when. `by` is undefined until this instance has received
 * its own claim.
 */
interface Try {
  readonly by: string | undefined;
  readonly untilMs: number;
}

/**
 * Shares the health of routes with other instances: which are paused, which instance probes one
 * after its pause, and how fast they answer. Sends changes only, off the request path. Lost
 * messages are not repeated: each instance works alone, and one that reconnects asks the others.
 *
 * Of the instances that want to probe a route, the first one on the channel wins, because all
 * receive messages in the same order.
 */
export class SharedHealth implements OnApplicationBootstrap, OnApplicationShutdown {
  readonly id = randomUUID();
  private number = 0;
  private isStopped = false;
  private readonly changes = new Set<string>();
  private items: HealthItem[] = [];
  private gathering: NodeJS.Timeout | undefined;
  private sending: Promise<void> | undefined;
  private answering: NodeJS.Timeout | undefined;
  private isAnswered = false;
  private speedTimer: NodeJS.Timeout | undefined;
  private readonly tries = new Map<string, Try>();
  private readonly contests = new Map<string, NodeJS.Timeout>();
  private readonly lastNumbers = boundedCache<string, number>(MAX_INSTANCES);

  /**
   * @param isServed whether a provider is configured here; reports on others are ignored
   */
  constructor(
    private readonly health: RouteHealth,
    private readonly channel: InstanceChannel,
    private readonly isServed: (provider: string) => boolean,
  ) {}

  onApplicationBootstrap(): void {
    this.health.memories.watcher = {
      changed: (name) => this.tellChange(name),
      trying: (name) => this.tellTry(name),
    };
    this.channel.listen(
      TOPIC,
      (text) => this.receive(text),
      () => this.ask(),
    );
    this.speedTimer = setInterval(() => this.sendSpeeds(), SPEEDS_EVERY_MS).unref();
  }

  onApplicationShutdown(): void {
    this.isStopped = true;
    this.health.memories.watcher = undefined;
    clearInterval(this.speedTimer);
    clearTimeout(this.gathering);
    clearTimeout(this.answering);
    for (const contest of this.contests.values()) clearTimeout(contest);
  }

  /** Sends the speeds measured since the last report. */
  sendSpeeds(): void {
    const nowMs = performance.now();
    for (const [name, { untilMs }] of this.tries) if (untilMs <= nowMs) this.tries.delete(name);
    this.addSpeeds();
    if (this.items.length > 0) this.send();
  }

  private addSpeeds(): void {
    const news = this.health.speeds.takeUnsent(MAX_SPEEDS);
    for (const figures of news) this.items.push({ type: 'speeds', ...figures });
  }

  private tellChange(name: string): void {
    this.changes.add(name);
    this.contestLater(name);
    this.gather();
  }

  /** Records that a request probes the route, and claims the probe if no instance has. */
  private tellTry(name: string): void {
    if (!this.isTried(name)) this.claim(name);
    this.contestLater(name);
  }

  private claim(name: string): void {
    this.tries.set(name, { by: undefined, untilMs: performance.now() + TRIES_FOR_MS });
    this.items.push({ type: 'trying', name });
    this.send();
  }

  private isTried(name: string): boolean {
    return (this.tries.get(name)?.untilMs ?? 0) > performance.now();
  }

  private contestLater(name: string): void {
    const restMs = this.health.memories.openForMs(name);
    if (restMs === undefined || this.contests.has(name)) return;
    const timer = setTimeout(() => this.contest(name), Math.max(0, restMs - LEAD_MS));
    this.contests.set(name, timer.unref());
  }

  /**
   * Decides who probes a route whose pause is about to end: instances that want it claim it, and
   * the first claim wins.
   */
  private contest(name: string): void {
    this.contests.delete(name);
    const restMs = this.health.memories.openForMs(name);
    if (restMs === undefined || restMs === 0) return;
    // The pause has grown meanwhile.
    if (restMs > 2 * LEAD_MS) this.contestLater(name);
    // If no instance wants the route, the first later request probes it.
    else if (!this.isTried(name) && this.health.memories.takeWanted(name)) this.claim(name);
  }

  private gather(): void {
    this.gathering ??= setTimeout(() => {
      this.gathering = undefined;
      this.send();
    }, GATHER_MS).unref();
  }

  /** Sends messages one after the other, to preserve their order. */
  private send(): void {
    this.sending ??= this.sendAll().finally(() => {
      this.sending = undefined;
      if (this.items.length + this.changes.size > 0 && !this.isStopped) this.gather();
    });
  }

  private async sendAll(): Promise<void> {
    while (this.items.length + this.changes.size > 0) {
      const news = [...this.changes].map((name) => this.health.memories.newsOf(name));
      const items = [...this.items, ...news];
      this.items = [];
      this.changes.clear();
      const { id, channel } = this;
      for (const text of writeMessages(id, items, channel.maxBytes, () => this.number++)) {
        if (!(await channel.publish(TOPIC, text))) return;
      }
    }
  }

  /** Asks the others for missed reports, and sends what they may have missed. */
  private ask(): void {
    if (this.isStopped) return;
    this.items.push({ type: 'hello' });
    for (const { name } of this.health.memories.allNews()) this.changes.add(name);
    this.send();
  }

  /** Answers a new instance after a random delay; a few answers are enough. */
  private answerSoon(): void {
    if (this.answering) return;
    this.isAnswered = false;
    this.answering = setTimeout(() => {
      this.answering = undefined;
      for (const { name } of this.health.memories.allNews()) this.changes.add(name);
      // Add pending speeds first, or the totals would count them twice.
      this.addSpeeds();
      const known = this.isAnswered ? [] : this.health.speeds.pack(MAX_SPEEDS, performance.now());
      for (const figures of known) this.items.push({ type: 'memory', ...figures });
      this.send();
    }, Math.random() * ANSWER_WITHIN_MS).unref();
  }

  private receive(text: string): void {
    if (this.isStopped) return;
    const message = readMessage(text);
    if (!message) return;
    const { from, number, items } = message;
    if (from === this.id) {
      // Own messages matter only for their order among the others' claims.
      for (const item of items) if (item.type === 'trying') this.receiveClaim(item.name, from);
    } else if (this.isNew(from, number)) {
      for (const item of items) this.apply(item, from);
    }
  }

  /** Returns whether the message is neither late nor a duplicate. */
  private isNew(from: string, number: number): boolean {
    const { lastNumbers } = this;
    if (number <= (lastNumbers.peek(from) ?? -1)) return false;
    lastNumbers.set(from, number);
    return true;
  }

  private apply(item: HealthItem, from: string): void {
    if (item.type === 'hello') return this.answerSoon();
    if (!this.isServed(readName(item.name).provider)) return;
    switch (item.type) {
      case 'trying':
        return this.receiveClaim(item.name, from);
      case 'speeds':
        return this.health.speeds.merge(item, performance.now());
      case 'memory':
        this.isAnswered = true;
        return this.health.speeds.adopt(item, performance.now());
      default:
        this.health.memories.learn(item);
        this.contestLater(item.name);
    }
  }

  private receiveClaim(name: string, from: string): void {
    const nowMs = performance.now();
    const { by, untilMs = 0 } = this.tries.get(name) ?? {};
    // An earlier claim wins.
    if (untilMs > nowMs && by !== undefined && by !== from) return;
    if (this.health.memories.openForMs(name) === undefined) return;
    this.tries.set(name, { by: from, untilMs: nowMs + TRIES_FOR_MS });
    if (from === this.id) return;
    this.health.memories.reserveProbe(name, nowMs);
    this.contestLater(name);
  }
}
