import { Injectable } from '@nestjs/common';
import { RateLimitError } from '../../platform/errors/gateway-errors.js';
import { boundedCache } from '../../platform/memory/bounded-cache.js';
import { ClientNetworks, type Addressed } from './client-networks.js';
import { WINDOW_MS } from './rate-limit-decisions.js';

/** Requests without a valid key that one address may send per minute before it gets 429. */
const MAX_WRONG_KEYS = 100;
/** Beyond this, the address whose latest wrong key is oldest is forgotten. */
const MAX_ADDRESSES = 50_000;

/**
 * Counts requests without a valid key by client address. Valid keys from such an address still work,
 * since many callers may share it.
 */
@Injectable()
export class WrongKeys {
  private window = 0;
  private readonly counts = boundedCache<string, number>(MAX_ADDRESSES);

  constructor(private readonly networks: ClientNetworks) {}

  /** Counts a request without a valid key. @throws RateLimitError beyond the limit of this minute */
  note(request: Addressed): void {
    const counts = this.countsOfNow();
    const address = this.networks.of(request);
    const count = (counts.get(address) ?? 0) + 1;
    counts.set(address, count);
    if (count > MAX_WRONG_KEYS) throw tooMany();
  }

  /** Checks the limit before expensive work. @throws RateLimitError when it is used up */
  refuseMany(request: Addressed): void {
    const count = this.countsOfNow().peek(this.networks.of(request)) ?? 0;
    if (count >= MAX_WRONG_KEYS) throw tooMany();
  }

  private countsOfNow(): typeof this.counts {
    const window = Math.floor(Date.now() / WINDOW_MS);
    if (window !== this.window) {
      this.window = window;
      this.counts.clear();
    }
    return this.counts;
  }
}

function tooMany(): RateLimitError {
  const leftMs = WINDOW_MS - (Date.now() % WINDOW_MS);
  const retryAfterSeconds = Math.max(1, Math.ceil(leftMs / 1000));
  return new RateLimitError(
    'authorization',
    `More than ${MAX_WRONG_KEYS} requests without a valid API key came from this address within a minute. Try again in ${retryAfterSeconds} s with a complete, current key.`,
    retryAfterSeconds,
    'wrong_keys_per_address',
  );
}
