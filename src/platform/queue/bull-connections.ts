import { Injectable, Logger, type OnApplicationShutdown } from '@nestjs/common';
import { Redis, type RedisOptions } from 'ioredis';
import { guardReplies } from '../redis/reply-guard.js';
import { within } from '../time/within.js';

const READY_LIMIT_MS = 2_000;
const LONGEST_RECONNECT_DELAY_MS = 1_000;
/** Every topic adds listeners to the shared connections. */
const MAX_LISTENERS = 50;

export type BullConnectionType = 'client' | 'subscriber' | 'bclient';

/**
 * Holds the Redis connections of all topics: one for commands, one for messages, and a blocking one per
 * consumed topic. They reconnect on their own.
 */
@Injectable()
export class BullConnections implements OnApplicationShutdown {
  private readonly logger = new Logger('WorkQueue');
  private readonly blocking: Redis[] = [];
  private commandConnection: Redis | undefined;
  private messageConnection: Redis | undefined;
  private becomingReady: Promise<void> | undefined;
  private isFailing = false;
  private isClosed = false;

  constructor(private readonly url: string) {}

  /** The connection for commands. Commands queue while Redis is unavailable. */
  get commands(): Redis {
    return (this.commandConnection ??= this.open('client'));
  }

  /** True when commands currently wait for Redis. */
  get isDegraded(): boolean {
    return this.commands.status !== 'ready';
  }

  /** For Bull's `createClient`. */
  readonly create = (type: BullConnectionType): Redis => {
    if (type === 'client') return this.commands;
    if (type === 'subscriber') return (this.messageConnection ??= this.open('subscriber'));
    const connection = this.open('bclient');
    this.blocking.push(connection);
    return connection;
  };

  /**
   * Resolves when Redis is connected. Callers share one promise, so that none pile up in an outage.
   *
   * @throws Error when Redis does not connect within 2 s
   */
  untilReady(): Promise<void> {
    if (this.commands.status === 'ready') return Promise.resolve();
    this.becomingReady ??= this.awaitReady().finally(() => {
      this.becomingReady = undefined;
    });
    return this.becomingReady;
  }

  /** Disconnects the blocking connections, which otherwise notice a stop late. */
  interruptBlocking(): void {
    this.blocking.forEach((connection) => connection.disconnect());
  }

  onApplicationShutdown(): void {
    this.isClosed = true;
    this.interruptBlocking();
    this.commandConnection?.disconnect();
    this.messageConnection?.disconnect();
  }

  private async awaitReady(): Promise<void> {
    const connection = this.commands;
    let onReady: () => void = () => undefined;
    const ready = new Promise<void>((resolve) => {
      onReady = resolve;
      connection.once('ready', onReady);
    });
    try {
      await within(READY_LIMIT_MS, ready, () => {
        throw new Error('The queue cannot connect to Redis.');
      });
    } finally {
      connection.off('ready', onReady);
    }
  }

  private open(type: BullConnectionType): Redis {
    const options: RedisOptions = {
      connectionName: `model-gateway-queue-${type}`,
      enableReadyCheck: false,
      maxRetriesPerRequest: null,
      retryStrategy: (attempt) =>
        this.isClosed ? null : Math.min(attempt * 50, LONGEST_RECONNECT_DELAY_MS),
    };
    const connection = new Redis(this.url, options);
    guardReplies(connection);
    connection.setMaxListeners(MAX_LISTENERS);
    connection.on('error', (error: Error) => this.reportFailure(error));
    connection.on('ready', () => this.reportSuccess());
    return connection;
  }

  private reportFailure(error: Error): void {
    if (this.isFailing || this.isClosed) return;
    this.isFailing = true;
    this.logger.warn(`queue disconnected from Redis: ${error.message}`);
  }

  private reportSuccess(): void {
    if (!this.isFailing) return;
    this.isFailing = false;
    this.logger.log('queue reconnected to Redis');
  }
}
