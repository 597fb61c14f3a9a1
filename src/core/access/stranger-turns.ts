import type { IncomingMessage } from 'node:http';
import { Injectable } from '@nestjs/common';
import { OverloadedError, RateLimitError } from '../../platform/errors/gateway-errors.js';
import { InFlightLimiter, type Closing } from './in-flight-limiter.js';

const RETRY_AFTER_SECONDS = 2;
const PROBES = /^\/(?:healthz|readyz)(?:$|\?)/;
/** Where callers have keys. */
const CALLERS = /^\/(?:(?:api\/)?v1|openai)\//;

/**
 * Has those who fetch what needs no key take turns before anything is done for them, few at once, as a tenant
 * does for what is no inference: pages are as much work as a tenant's call when thousands are asked for.
 * Where keys are needed nobody waits: a wrong one may come from the address of many right ones.
 */
@Injectable()
export class StrangerTurns {
  constructor(private readonly inFlight: InFlightLimiter) {}

  /**
   * @returns undefined when the request may go on at once
   * @throws CallerGoneError when the caller leaves meanwhile; OverloadedError when too many wait already
   */
  turnOf({ url = '' }: IncomingMessage, response: Closing): Promise<void> | undefined {
    if (CALLERS.test(url)) return undefined;
    const queue = PROBES.test(url) ? 'probes' : 'pages';
    return this.inFlight.waitForTurn({ tenantId: queue }, response)?.catch(toOverload);
  }
}

function toOverload(error: unknown): never {
  if (!(error instanceof RateLimitError)) throw error;
  throw new OverloadedError(
    'authorization',
    'Too many requests without a key wait to be answered. Send the request again in a moment.',
    RETRY_AFTER_SECONDS,
    'max_waiting_without_key',
  );
}
