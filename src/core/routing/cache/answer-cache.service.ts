import { Injectable } from '@nestjs/common';
import type { CanonicalEvent, RouteEvent } from '../../../canonical/canonical-event.js';
import type { WorkEvent } from '../../../canonical/work-event.js';
import { isTextRequest, type RoutableRequest } from '../../../canonical/work-request.js';
import { GatewayMetrics } from '../../../platform/metrics/gateway-metrics.js';
import { AnswerRecorder } from './answer-recorder.js';
import { cacheKeyOf, type CacheableRequest } from './cache-key.js';
import { CacheStore } from './cache-store.js';
import { decodeAnswer, encodeAnswer, type CachedAnswer } from './cached-answer.js';

/** Larger answers are not kept: they would take others' room, and time to read. */
const MAX_ANSWER_BYTES = 4_000_000;

/** What the cache has to do with one request whose caller asked for it. */
export interface CacheLookup {
  readonly key: string;
  readonly ttlSeconds: number;
  /** The answer that was kept, if there is one. */
  readonly hit: CachedAnswer | undefined;
}

/** Gives again what a tenant has been answered before, and keeps what may be given again. */
@Injectable()
export class AnswerCache {
  constructor(
    private readonly store: CacheStore,
    private readonly metrics: GatewayMetrics,
  ) {}

  /**
   * Looks for an answer to the same request of the same tenant. Undefined when such a request is
   * never answered out of the cache: work without an exact answer in text, and whatever depends on
   * something in a vendor account, which may change while the request stays the same.
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
    return { key, ttlSeconds, hit };
  }

  /**
   * Passes an answer's events on, and keeps the answer once it has come to a good end. It is to be
   * the last to see them, so that an answer that a guardrail withholds is not kept.
   */
  async *keep<Event extends CanonicalEvent | WorkEvent<unknown>>(
    { key, ttlSeconds }: CacheLookup,
    events: AsyncIterable<Event>,
    upstreamModelOf: (event: RouteEvent) => string,
  ): AsyncGenerator<Event, undefined> {
    const recorder = new AnswerRecorder(MAX_ANSWER_BYTES);
    for await (const event of events) {
      recorder.observe(event);
      yield event;
    }
    const answer = recorder.result(upstreamModelOf);
    const bytes = answer && encodeAnswer(answer);
    if (bytes && bytes.length <= MAX_ANSWER_BYTES) this.store.set(key, bytes, ttlSeconds);
    return undefined;
  }
}

function isCacheable(request: RoutableRequest): request is CacheableRequest {
  if (request.accountBoundParam !== undefined) return false;
  return isTextRequest(request) || request.kind === 'embedding';
}
