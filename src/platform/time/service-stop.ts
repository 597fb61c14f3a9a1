import { setTimeout as wait } from 'node:timers/promises';
import { Global, Inject, Injectable, Module } from '@nestjs/common';
import { APP_CONFIG, type AppConfig } from '../config/app-config.js';

/**
 * How far the end of the service has come: first a lame duck, which says that it is not ready and serves
 * on, so that balancers leave it without a failed request; then what runs may end, up to the drain
 * limit, which is one for all.
 */
@Injectable()
export class ServiceStop {
  private readonly impatience = new AbortController();
  private isOver = false;
  private drainEndsAtMs: number | undefined;
  /** From the first signal on: nobody should send new requests. */
  hasBegun = false;

  constructor(
    @Inject(APP_CONFIG)
    private readonly config: Pick<AppConfig, 'drainSeconds' | 'lameDuckSeconds'>,
  ) {}

  /** Milliseconds for which what runs may still go on. The first look starts the clock. */
  get leftMs(): number {
    this.drainEndsAtMs ??= performance.now() + this.config.drainSeconds * 1_000;
    return Math.max(0, this.drainEndsAtMs - performance.now());
  }

  /** Resolves when the time of the lame duck is over. */
  async announce(): Promise<void> {
    this.hasBegun = true;
    const { signal } = this.impatience;
    await wait(this.config.lameDuckSeconds * 1_000, undefined, { signal }).catch(() => undefined);
    this.isOver = true;
  }

  /** Ends the time of the lame duck. @returns false when it was over */
  hurry(): boolean {
    if (this.isOver) return false;
    this.impatience.abort();
    return true;
  }
}

@Global()
@Module({ providers: [ServiceStop], exports: [ServiceStop] })
export class ServiceStopModule {}
