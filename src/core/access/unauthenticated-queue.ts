import type { IncomingMessage } from 'node:http';
import { Injectable } from '@nestjs/common';
import { OverloadedError, RateLimitError } from '../../platform/errors/gateway-errors.js';
import { ClientNetworks } from './client-networks.js';
import { InFlightLimiter, type Closing } from './in-flight-limiter.js';

const RETRY_AFTER_SECONDS = 2;
/** A load balancer may share its address with a crowd, and takes a refused probe for a failing process. */
const MAX_WAITING_PROBES = 10_000;
const PROBES = /^\/(?:healthz|readyz)(?:$|\?)/;
/** Results of jobs. Only opening one is work that others wait for; sending it is not. */
const FILES = /^\/v1\/artifacts\//;
const LONGEST_TURN_OF_FILE_MS = 25;
/** Paths that require a key. */
const CALLERS = /^\/(?:(?:api\/)?v1|openai)\//;

/**
 * Queues requests that need no key per address, like a tenant's management requests: thousands of page
 * loads are as much work as model calls. Paths that need a key are exempt, since an address with invalid keys
 * may also have many valid ones.
 */
@Injectable()
export class UnauthenticatedQueue {
  constructor(
    private readonly inFlight: InFlightLimiter,
    private readonly networks: ClientNetworks,
  ) {}

  /**
   * @returns undefined when the request may proceed at once
   * @throws CallerGoneError when the caller disconnects; OverloadedError when too many wait
   */
  turnOf(request: IncomingMessage, response: Closing): Promise<void> | undefined {
    const { url = '' } = request;
    const isFile = FILES.test(url);
    if (!isFile && CALLERS.test(url)) return undefined;
    const [what, limits] = isFile
      ? ['files', { longestMs: LONGEST_TURN_OF_FILE_MS }]
      : PROBES.test(url)
        ? ['probes', { maxWaiting: MAX_WAITING_PROBES }]
        : ['pages', {}];
    const tenantId = `${what} ${this.networks.of(request)}`;
    return this.inFlight.waitForTurn({ tenantId }, response, limits)?.catch(toOverload);
  }
}

function toOverload(error: unknown): never {
  if (!(error instanceof RateLimitError)) throw error;
  throw new OverloadedError(
    'authorization',
    'Too many requests without a key are waiting. Try again in a few seconds.',
    RETRY_AFTER_SECONDS,
    'max_waiting_without_key',
  );
}
