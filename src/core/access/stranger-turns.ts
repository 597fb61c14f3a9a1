import type { IncomingMessage } from 'node:http';
import { Injectable } from '@nestjs/common';
import { OverloadedError, RateLimitError } from '../../platform/errors/gateway-errors.js';
import { ClientNetworks } from './client-networks.js';
import { InFlightLimiter, type Closing } from './in-flight-limiter.js';

const RETRY_AFTER_SECONDS = 2;
/** A balancer may have the address of a crowd that it brings, and takes a refusal for a process that is ill. */
const MAX_WAITING_PROBES = 10_000;
const PROBES = /^\/(?:healthz|readyz)(?:$|\?)/;
/** Where callers have keys. */
const CALLERS = /^\/(?:(?:api\/)?v1|openai)\//;

/**
 * Has those who fetch what needs no key take turns before anything is done for them, few of an address at once,
 * as a tenant does for what is no inference: pages are as much work as a tenant's call when thousands are asked for.
 * Where keys are needed nobody waits: a wrong one may come from the address of many right ones.
 */
@Injectable()
export class StrangerTurns {
  constructor(
    private readonly inFlight: InFlightLimiter,
    private readonly networks: ClientNetworks,
  ) {}

  /**
   * @returns undefined when the request may go on at once
   * @throws CallerGoneError when the caller leaves meanwhile; OverloadedError when too many wait already
   */
  turnOf(request: IncomingMessage, response: Closing): Promise<void> | undefined {
    const { url = '' } = request;
    if (CALLERS.test(url)) return undefined;
    const network = this.networks.of(request);
    const turn = PROBES.test(url)
      ? this.inFlight.waitForTurn({ tenantId: `probes ${network}` }, response, MAX_WAITING_PROBES)
      : this.inFlight.waitForTurn({ tenantId: `pages ${network}` }, response);
    return turn?.catch(toOverload);
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
