import { setTimeout as wait } from 'node:timers/promises';
import { Global, Inject, Injectable, Module } from '@nestjs/common';
import { APP_CONFIG, type AppConfig } from '../config/app-config.js';

/**
 * Tracks the shutdown. First a lame-duck period: the service reports that it is not ready and keeps serving, so that
 * balancers drain it without a failed request. Then running work may finish, up to one drain limit.
 */
@Injectable()
export class ServiceStop {
  private readonly impatience = new AbortController();
  private isOver = false;
  private drainEndsAtMs: number | undefined;
  /** True from the first signal on: new requests should go elsewhere. */
  hasBegun = false;

  constructor(
    @Inject(APP_CONFIG)
    private readonly config: Pick<AppConfig, 'drainSeconds' | 'lameDuckSeconds'>,
  ) {}

  /** Milliseconds left for running work. The first read starts the clock. */
  get leftMs(): number {
    this.drainEndsAtMs ??= performance.now() + this.config.drainSeconds * 1_000;
    return Math.max(0, this.drainEndsAtMs - performance.now());
  }

  /** Resolves when the lame-duck period is over. */
  async announce(): Promise<void> {
    this.hasBegun = true;
    const { signal } = this.impatience;
    await wait(this.config.lameDuckSeconds * 1_000, undefined, { signal }).catch(() => undefined);
    this.isOver = true;
  }

  /** Ends the lame-duck period. @returns false when it was over */
  hurry(): boolean {
    if (this.isOver) return false;
    this.impatience.abort();
    return true;
  }
}

@Global()
@Module({ providers: [ServiceStop], exports: [ServiceStop] })
export class ServiceStopModule {}
