import type { IncomingMessage } from 'node:http';
import { Injectable } from '@nestjs/common';
import { OverloadedError, RateLimitError } from '../../platform/errors/gateway-errors.js';
import { InFlightLimiter, type Closing } from './in-flight-limiter.js';
import { WrongKeys } from './wrong-keys.js';

const RETRY_AFTER_SECONDS = 2;
const PROBES = /^\/(?:healthz|readyz)(?:$|\?)/;
/** Where callers have keys. */
const CALLERS = /^\/(?:(?:api\/)?v1|openai)\//;

/** Who asks whether the service lives, who fetches what everybody may see, and whose address sent too many wrong keys. */
type Strangers = 'probes' | 'pages' | 'wrong keys';

/**
 * Has those without a valid key take turns before anything is done for them, few at once, as a tenant does
 * for what is no inference: pages that everybody may fetch, and refusals, are as much work as a tenant's
 * call when thousands are asked for.
 */
@Injectable()
export class StrangerTurns {
  constructor(
    private readonly inFlight: InFlightLimiter,
    private readonly wrongKeys: WrongKeys,
  ) {}

  /**
   * @returns undefined when the request may go on at once
   * @throws CallerGoneError when the caller leaves meanwhile; OverloadedError when too many wait already
   */
  turnOf(request: IncomingMessage, response: Closing): Promise<void> | undefined {
    const queue = this.queueOf(request);
    return queue && this.inFlight.waitForTurn({ tenantId: queue }, response)?.catch(toOverload);
  }

  private queueOf(request: IncomingMessage): Strangers | undefined {
    const { url = '' } = request;
    // Right keys come from such an address as well; they are served in these turns.
    if (CALLERS.test(url)) {
      return this.wrongKeys.areTooManyFrom(request) ? 'wrong keys' : undefined;
    }
    return PROBES.test(url) ? 'probes' : 'pages';
  }
}

function toOverload(error: unknown): never {
  if (!(error instanceof RateLimitError)) throw error;
  throw new OverloadedError(
    'authorization',
    'Too many requests without a valid key wait to be answered. Send the request again in a moment.',
    RETRY_AFTER_SECONDS,
    'max_waiting_without_key',
  );
}
