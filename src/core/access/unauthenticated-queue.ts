import type { IncomingMessage } from 'node:http';
import { Injectable } from '@nestjs/common';
import { OverloadedError, RateLimitError } from '../../platform/errors/gateway-errors.js';
import { ClientNetworks } from './client-networks.js';
import { InFlightLimiter, type Closing } from './in-flight-limiter.js';

const RETRY_AFTER_SECONDS = 2;
/** A balancer may have the address of a crowd that it brings, and takes a refusal for a process that is ill. */
const MAX_WAITING_PROBES = 10_000;
const PROBES = /^\/(?:healthz|readyz)(?:$|\?)/;
/** What jobs have made: to begin with it is some work, and to send it is none that others wait for. */
const FILES = /^\/v1\/artifacts\//;
const LONGEST_TURN_OF_FILE_MS = 25;
/** Where callers have keys. */
const CALLERS = /^\/(?:(?:api\/)?v1|openai)\//;

/**
 * Has those who fetch what needs no key take turns before anything is done for them, few of an address at once,
 * as a tenant does for what is no inference: pages are as much work as a tenant's call when thousands are asked for.
 * Where keys are needed nobody waits: a wrong one may come from the address of many right ones.
 */
@Injectable()
export class UnauthenticatedQueue {
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
    'Too many requests without a key wait to be answered. Send the request again in a moment.',
    RETRY_AFTER_SECONDS,
    'max_waiting_without_key',
  );
}
