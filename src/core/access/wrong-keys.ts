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
    const counts = this.countsOfNow();
    const address = this.networks.of(request);
    const count = (counts.get(address) ?? 0) + 1;
    if (count === 1 && counts.size >= MAX_ADDRESSES) {
      const [oldest] = counts.keys();
      if (oldest !== undefined) counts.delete(oldest);
    }
    counts.set(address, count);
    if (count > MAX_WRONG_KEYS) throw tooMany();
  }

  /** Before work that others have to bear, too. @throws RateLimitError when there were too many by now */
  refuseMany(request: Addressed): void {
    const count = this.countsOfNow().get(this.networks.of(request)) ?? 0;
    if (count >= MAX_WRONG_KEYS) throw tooMany();
  }

  private countsOfNow(): Map<string, number> {
    const window = Math.floor(Date.now() / WINDOW_MS);
    if (window !== this.window) {
      this.window = window;
      this.counts = new Map();
    }
    return this.counts;
  }
}

function tooMany(): RateLimitError {
  const leftMs = WINDOW_MS - (Date.now() % WINDOW_MS);
  const retryAfterSeconds = Math.max(1, Math.ceil(leftMs / 1000));
  return new RateLimitError(
    'authorization',
    `More than ${MAX_WRONG_KEYS} requests without a valid API key came from this address within a minute. Try again in ${retryAfterSeconds} s, with a key that is complete and current.`,
    retryAfterSeconds,
    'wrong_keys_per_address',
  );
}
