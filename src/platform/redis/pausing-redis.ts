import type { Logger } from '@nestjs/common';
import { Redis, type RedisOptions } from 'ioredis';
import { toError } from '../errors/thrown.js';
import { guardReplies } from './reply-guard.js';

/** The start does not wait longer for a Redis that does not answer. */
const CONNECT_TIMEOUT_MS = 2_000;
/** So long Redis is left alone after a failure: a hanging one must not slow every request. */
const PAUSE_AFTER_FAILURE_MS = 1_000;
const MAX_RECONNECT_DELAY_MS = 2_000;

export interface PausingRedisOptions {
  /** What the connection is called in Redis's list of clients. */
  readonly name: string;
  /** No command is waited for any longer. */
  readonly commandTimeoutMs: number;
  /** Commands of its own, which `Client` has as methods. */
  readonly scripts?: RedisOptions['scripts'];
  readonly logger: Logger;
  /** What is logged once an outage begins, and once it is over. */
  readonly whenFailing: (reason: string) => string;
  readonly whenBack: string;
  /** Called with each new connection; may fail. */
  readonly onReady?: (redis: Redis) => Promise<void>;
}

/**
 * A Redis that requests can do without: a command that fails brings nothing, and for a second after
 * it none is sent. An outage is logged once.
 */
export class PausingRedis<Client extends Redis = Redis> {
  private readonly redis: Client;
  private isFailing = false;
  private pausedUntilMs = 0;

  constructor(
    url: string,
    private readonly options: PausingRedisOptions,
  ) {
    this.redis = new Redis(url, {
      lazyConnect: true,
      enableOfflineQueue: false,
      maxRetriesPerRequest: 0,
      connectTimeout: CONNECT_TIMEOUT_MS,
      commandTimeout: options.commandTimeoutMs,
      connectionName: options.name,
      retryStrategy: (attempt) => Math.min(attempt * 100, MAX_RECONNECT_DELAY_MS),
      ...(options.scripts && { scripts: options.scripts }),
    }) as Client;
    guardReplies(this.redis);
    // Without a listener a connection error would be thrown at the process.
    this.redis.on('error', (error: Error) => this.reportFailure(error));
    const { onReady } = options;
    // Whoever may not ask it, or not in time, does without.
    if (onReady) this.redis.on('ready', () => void onReady(this.redis).catch(() => undefined));
    // Where nothing is asked of it, nothing else would end the outage.
    this.redis.on('ready', () => this.reportSuccess());
  }

  /** Whether Redis failed last, or is not connected. */
  get isDegraded(): boolean {
    return this.isFailing || this.redis.status !== 'ready';
  }

  /** Whether Redis is left alone just now. */
  get isPaused(): boolean {
    return performance.now() < this.pausedUntilMs;
  }

  /** Never fails: a Redis that is away at the start is an outage like any other. */
  async connect(): Promise<void> {
    await this.redis.connect().catch((error: Error) => this.reportFailure(error));
  }

  disconnect(): void {
    this.redis.disconnect();
  }

  /** What the command brings; undefined when it fails or Redis is left alone. */
  async ask<Value>(command: (redis: Client) => Promise<Value>): Promise<Value | undefined> {
    if (this.isPaused) return undefined;
    try {
      const value = await command(this.redis);
      this.reportSuccess();
      return value;
    } catch (error) {
      this.pausedUntilMs = performance.now() + PAUSE_AFTER_FAILURE_MS;
      this.reportFailure(toError(error));
      return undefined;
    }
  }

  private reportFailure({ message }: Error): void {
    if (this.isFailing) return;
    this.isFailing = true;
    this.options.logger.warn(this.options.whenFailing(message));
  }

  private reportSuccess(): void {
    if (!this.isFailing) return;
    this.isFailing = false;
    this.options.logger.log(this.options.whenBack);
  }
}
