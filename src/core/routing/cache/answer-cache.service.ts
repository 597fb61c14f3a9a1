import { Injectable } from '@nestjs/common';
import type { CancelSignal } from '../../../canonical/cancel-signal.js';
import type { CanonicalEvent, RouteEvent, WorkEvent } from '../../../canonical/canonical-event.js';
import { isTextRequest, type RoutableRequest } from '../../../canonical/work-request.js';
import { GatewayMetrics } from '../../../platform/metrics/gateway-metrics.js';
import { CacheRecorder } from './cache-recorder.js';
import { cacheKeyOf, type CacheableRequest } from './cache-key.js';
import { CacheStore, MAX_ANSWER_BYTES } from './cache-store.js';
import { decodeAnswer, encodeAnswer, type CachedAnswer } from './cached-answer.js';
import type { IncomingHttpHeaders } from 'node:http';
import { InvalidRequestError } from '../../../platform/errors/gateway-errors.js';

const CACHE_HEADER = 'x-gateway-cache';

const DEFAULT_TTL_SECONDS = 300;

const MAX_TTL_SECONDS = 86_400;

/** Cache parameters of a request whose caller enabled the cache. */
export interface CacheLookup {
  readonly tenantId: string;
  readonly key: string;
  readonly ttlSeconds: number;
  /** Undefined on a miss. */
  readonly hit: CachedAnswer | undefined;
}

/** Returns cached answers to repeated requests of a tenant and stores new ones. */
@Injectable()
export class AnswerCache {
  constructor(
    private readonly store: CacheStore,
    private readonly metrics: GatewayMetrics,
  ) {}

  /**
   * Looks for an answer to the same request of the same tenant. Returns undefined when the request
   * cannot be cached: its answer is not plain text or vectors, or depends on state in a vendor
   * account that can change between identical requests.
   */
  async lookUp(
    tenantId: string,
    request: RoutableRequest,
    ttlSeconds: number,
  ): Promise<CacheLookup | undefined> {
    if (!isCacheable(request)) return undefined;
    const key = cacheKeyOf(tenantId, request);
    const bytes = await this.store.get(key);
    const hit = bytes && decodeAnswer(bytes);
    this.metrics.observeCacheLookup(hit !== undefined);
    return { tenantId, key, ttlSeconds, hit };
  }

  /**
   * Passes an answer's events on and stores the answer once it is complete. Must be the outermost
   * step, so that answers withheld by a guardrail or abandoned by the caller are not stored.
   */
  async *keep<Event extends CanonicalEvent | WorkEvent<unknown>>(
    { tenantId, key, ttlSeconds }: CacheLookup,
    events: AsyncIterable<Event>,
    upstreamModelOf: (event: RouteEvent) => string,
    callerGone: CancelSignal,
  ): AsyncGenerator<Event, undefined> {
    const recorder = new CacheRecorder(MAX_ANSWER_BYTES);
    for await (const event of events) {
      if (!callerGone.aborted) recorder.observe(event);
      yield event;
    }
    if (callerGone.aborted) return undefined;
    const answer = recorder.result(upstreamModelOf);
    const bytes = answer && encodeAnswer(answer);
    if (bytes && bytes.length <= MAX_ANSWER_BYTES) {
      this.store.set(tenantId, key, bytes, ttlSeconds);
    }
    return undefined;
  }
}

function isCacheable(request: RoutableRequest): request is CacheableRequest {
  if (request.accountBoundParam !== undefined) return false;
  // Web search results must be fresh.
  return isTextRequest(request) ? !request.webSearch : request.kind === 'embedding';
}

/**
 * Parses `x-gateway-cache`: the seconds for which to store the answer and accept a stored one;
 * undefined when the cache is not to be used.
 *
 * @throws InvalidRequestError (`x-gateway-cache`) for any other value
 */
export function readCacheTtl(headers: IncomingHttpHeaders): number | undefined {
  const value = headers[CACHE_HEADER];
  if (value === undefined || value === 'false') return undefined;
  if (value === 'true') return DEFAULT_TTL_SECONDS;
  const seconds = typeof value === 'string' && /^\d{1,6}$/.test(value) ? Number(value) : 0;
  if (seconds >= 1 && seconds <= MAX_TTL_SECONDS) return seconds;
  throw new InvalidRequestError(
    CACHE_HEADER,
    `\`X-Gateway-Cache\` must be \`true\`, \`false\` or a number of seconds from 1 to ${MAX_TTL_SECONDS}.`,
  );
}
