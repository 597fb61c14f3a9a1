import { Injectable } from '@nestjs/common';
import { RateLimitError } from '../../platform/errors/gateway-errors.js';
import { ClientNetworks, type Addressed } from './client-networks.js';
import { WINDOW_MS } from './rate-limit-decisions.js';

/** Wrong keys that one address may send in a minute before it hears 429. */
const MAX_WRONG_KEYS = 100;
/** The oldest is forgotten for the next one. */
const MAX_ADDRESSES = 50_000;

/**
 * Counts requests without a valid key by the address that they come from. Right keys from such an
 * address are served all the same: many callers may share it.
 */
@Injectable()
export class WrongKeys {
  private window = 0;
  private counts = new Map<string, number>();

  constructor(private readonly networks: ClientNetworks) {}

  /** To be called for each. @throws RateLimitError when there were too many in this minute */
  note(request: Addressed): void {
    const nowMs = Date.now();
    const window = Math.floor(nowMs / WINDOW_MS);
    if (window !== this.window) {
      this.window = window;
      this.counts = new Map();
    }
    const address = this.networks.of(request);
    const count = (this.counts.get(address) ?? 0) + 1;
    if (count === 1 && this.counts.size >= MAX_ADDRESSES) {
      const [oldest] = this.counts.keys();
      if (oldest !== undefined) this.counts.delete(oldest);
    }
    this.counts.set(address, count);
    if (count <= MAX_WRONG_KEYS) return;
    const retryAfterSeconds = Math.max(1, Math.ceil(((window + 1) * WINDOW_MS - nowMs) / 1000));
    throw new RateLimitError(
      'authorization',
      `More than ${MAX_WRONG_KEYS} requests without a valid API key came from this address within a minute. Try again in ${retryAfterSeconds} s, with a key that is complete and current.`,
      retryAfterSeconds,
      'wrong_keys_per_address',
    );
  }
}
