import type { Logger } from '@nestjs/common';
import { Redis, type RedisOptions } from 'ioredis';
import { toError } from '../errors/thrown.js';
import { guardReplies } from './reply-guard.js';

/** The start waits no longer for an unresponsive Redis. */
const CONNECT_TIMEOUT_MS = 2_000;
/** Pause after a failure: a hanging Redis must not slow down every request. */
const PAUSE_AFTER_FAILURE_MS = 1_000;
const MAX_RECONNECT_DELAY_MS = 2_000;

export interface PausingRedisOptions {
  /** The connection's name in Redis's client list. */
  readonly name: string;
  /** The timeout of a command. */
  readonly commandTimeoutMs: number;
  /** Custom commands, which `Client` has as methods. */
  readonly scripts?: RedisOptions['scripts'];
  readonly logger: Logger;
  /** Log texts for the start and the end of an outage. */
  readonly whenFailing: (reason: string) => string;
  readonly whenBack: string;
  /** Called for each new connection; may fail. */
  readonly onReady?: (redis: Redis) => Promise<void>;
}

/**
 * A Redis that requests can do without: a failed command returns nothing, and none is sent for a second after it. An
 * outage is logged once.
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
    // Without a listener, connection errors would be thrown.
    this.redis.on('error', (error: Error) => this.reportFailure(error));
    const { onReady } = options;
    // Callers that cannot ask in time do without.
    if (onReady) this.redis.on('ready', () => void onReady(this.redis).catch(() => undefined));
    // Without commands nothing else would end the outage.
    this.redis.on('ready', () => this.reportSuccess());
  }

  /** True when the last command failed or the connection is down. */
  get isDegraded(): boolean {
    return this.isFailing || this.redis.status !== 'ready';
  }

  /** True when commands are currently paused. */
  get isPaused(): boolean {
    return performance.now() < this.pausedUntilMs;
  }

  /** Never fails: a Redis that is unavailable at the start is an outage like any other. */
  async connect(): Promise<void> {
    await this.redis.connect().catch((error: Error) => this.reportFailure(error));
  }

  disconnect(): void {
    this.redis.disconnect();
  }

  /** Returns the command's result; undefined when it fails or commands are paused. */
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
