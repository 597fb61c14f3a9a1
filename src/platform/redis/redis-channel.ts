import { Logger, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { Redis } from 'ioredis';
import { InstanceChannel, type TextListener } from '../channel/instance-channel.js';
import { PausingRedis } from './pausing-redis.js';
import { guardReplies } from './reply-guard.js';

const COMMAND_TIMEOUT_MS = 1_000;
const MAX_RECONNECT_DELAY_MS = 2_000;
/** No instance publishes longer texts. */
const MAX_HEARD = 131_072;
/** Time limit for receiving an own message, after which the connection counts as dead. */
const DEAF_AFTER_MS = 5_000;

interface Topic {
  readonly onText: TextListener;
  readonly onBack: () => void;
}

/** Broadcasts between instances over Redis channels. */
export class RedisChannel extends InstanceChannel implements OnModuleInit, OnApplicationShutdown {
  readonly maxBytes = 32_768;
  private readonly publisher: PausingRedis;
  private readonly subscriber: Redis;
  private readonly topics = new Map<string, Topic>();
  /** Prefixes topics: channels are one namespace over all databases of a server. */
  private readonly prefix: string;
  private isHearing = false;
  /** When the oldest own message was published that has not been received; undefined without one. */
  private unheardSinceMs: number | undefined;

  constructor(url: string) {
    super();
    this.publisher = new PausingRedis(url, {
      name: 'model-gateway-channel',
      commandTimeoutMs: COMMAND_TIMEOUT_MS,
      logger: new Logger(RedisChannel.name),
      whenFailing: (reason) =>
        `Redis does not reach other instances (${reason}); each observes its routes on its own until it does`,
      whenBack: 'Redis reaches other instances again',
    });
    this.subscriber = new Redis(url, {
      lazyConnect: true,
      autoResubscribe: false,
      connectTimeout: COMMAND_TIMEOUT_MS,
      connectionName: 'model-gateway-channel-heard',
      retryStrategy: (attempt) => Math.min(attempt * 100, MAX_RECONNECT_DELAY_MS),
    });
    guardReplies(this.subscriber);
    this.prefix = `gateway:${this.subscriber.options.db ?? 0}:`;
    // Without a listener, connection errors would be thrown; the other connection reports the outage.
    this.subscriber.on('error', () => undefined);
    this.subscriber.on('close', () => (this.isHearing = false));
    this.subscriber.on('ready', () => {
      for (const [topic, listener] of this.topics) void this.subscribe(topic, listener);
    });
    this.subscriber.on('message', (channel: string, text: string) => {
      this.unheardSinceMs = undefined;
      // Anyone with access to Redis can publish.
      if (text.length > MAX_HEARD) return;
      this.topics.get(channel.slice(this.prefix.length))?.onText(text);
    });
  }

  /** True when other instances are currently out of reach. */
  get isDegraded(): boolean {
    return this.publisher.isDegraded || !this.isHearing;
  }

  async onModuleInit(): Promise<void> {
    // Connecting has no time limit.
    this.subscriber.connect().catch(() => undefined);
    await this.publisher.connect();
  }

  onApplicationShutdown(): void {
    this.subscriber.disconnect();
    this.publisher.disconnect();
  }

  listen(topic: string, onText: TextListener, onBack: () => void): void {
    const listener = { onText, onBack };
    this.topics.set(topic, listener);
    if (this.subscriber.status === 'ready') void this.subscribe(topic, listener);
  }

  async publish(topic: string, text: string): Promise<boolean> {
    const nowMs = performance.now();
    if (this.unheardSinceMs !== undefined && nowMs - this.unheardSinceMs > DEAF_AFTER_MS) {
      this.unheardSinceMs = undefined;
      this.subscriber.disconnect(true);
    } else if (this.isHearing) {
      this.unheardSinceMs ??= nowMs;
    }
    const receivers = await this.publisher.ask((redis) => redis.publish(this.prefix + topic, text));
    if (receivers === undefined) this.unheardSinceMs = undefined;
    return receivers !== undefined;
  }

  /** Without permission to subscribe, no messages are received. */
  private async subscribe(topic: string, { onBack }: Topic): Promise<void> {
    try {
      await this.subscriber.subscribe(this.prefix + topic);
    } catch {
      return;
    }
    this.isHearing = true;
    this.unheardSinceMs = undefined;
    onBack();
  }
}
