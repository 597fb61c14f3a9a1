import type { ServerResponse } from 'node:http';
import type { CanonicalEvent, SettledEvent } from '../../canonical/canonical-event.js';
import { sendBytes, sendJson } from '../../platform/http/send-body.js';
import type { GatewayRequest } from '../access/gateway-request.js';
import { setRateLimitHeaders } from '../access/rate-limit.guard.js';
import type { BilledEvent } from '../ledger/settled-answer.js';
import {
  setCacheHeaders,
  setCostHeader,
  setProviderHeader,
  setRouteHeaders,
} from './answer-headers.js';
import type { Answer } from './answers.service.js';
import { callOf, type Call } from './call.js';
import { Logger } from '@nestjs/common';
import { gatewayErrorOf } from '../../platform/database/database-outage.js';
import { GatewayError, ServiceStopsError } from '../../platform/errors/gateway-errors.js';
import { CallerGoneError } from '../../platform/http/read-body.js';
import { SERVICE_STOPS } from '../../platform/http/server-drain.js';
import { SseWriter } from '../../platform/http/sse-writer.js';
import type { BillableRoute } from '../../canonical/billable-route.js';

const logger = new Logger('deliverStream');

/** An answer and how to send it. */
export interface Reply<Event extends BilledEvent> {
  readonly answer: Answer<Event>;
  readonly send: Send<Event | SettledEvent>;
}

/** The immediate reply to a call whose answer comes later. */
export interface DeferredReply {
  readonly answer?: undefined;
  readonly body: object;
}

/**
 * Pulls the events and writes them.
 *
 * @throws when nothing has been written yet
 */
export type Send<Event> = (response: ServerResponse, events: AsyncIterable<Event>) => Promise<void>;

/**
 * Answers a controller's call and sends the answer. Settles the answer, whatever is thrown.
 *
 * @throws GatewayError when nothing was sent
 */
export async function deliver<Event extends BilledEvent>(
  received: GatewayRequest,
  response: ServerResponse,
  reply: (call: Call) => Promise<Reply<Event> | DeferredReply>,
): Promise<void> {
  // Not in an interceptor, which costs 60 µs a request (docs/decisions/0005).
  if (received.rateLimit) setRateLimitHeaders(response, received.rateLimit);
  const call = callOf(received, response);
  try {
    const replied = await reply(call);
    if (!replied.answer) return sendJson(response, 200, replied.body);
    const { answer, send } = replied;
    setCacheHeaders(response, answer.plan.cache?.hit?.route);
    await send(response, answer.events);
  } finally {
    await call.endAnswer?.();
  }
}

/** Sends a conversation's answer as server-sent events. */
export function asStream(renderer: StreamRenderer): Send<CanonicalEvent> {
  return (response, events) => deliverStream(response, events, renderer);
}

type Body = Buffer | object;

/** A non-JSON body. */
export class TypedBody {
  constructor(
    readonly contentType: string,
    readonly bytes: Buffer,
  ) {}
}

/** The result of folding an answer's events. */
interface Folded {
  readonly route: BillableRoute;
  readonly droppedParams: readonly string[];
  readonly settled: SettledEvent;
}

/** Sends a whole answer: folds its events and writes the result, as JSON unless typed otherwise. */
export function asWhole<Event, Whole extends Folded>(
  fold: (events: AsyncIterable<Event>) => Promise<Whole>,
  render: (whole: Whole) => Body | Promise<Body>,
): Send<Event> {
  return async (response, events) => {
    const whole = await fold(events);
    if (response.destroyed) return;
    setRouteHeaders(response, whole);
    setCostHeader(response, whole.settled.cost);
    const body = await render(whole);
    if (body instanceof TypedBody) sendBytes(response, 200, body.bytes, body.contentType);
    else sendJson(response, 200, body);
  };
}

/** Sends a free answer, and names the vendor that took part. */
export async function deliverFree(
  received: GatewayRequest,
  response: ServerResponse,
  reply: (call: Call) => Promise<{ provider: string | undefined; body: object }>,
): Promise<void> {
  if (received.rateLimit) setRateLimitHeaders(response, received.rateLimit);
  const { provider, body } = await reply(callOf(received, response));
  if (provider !== undefined) setProviderHeader(response, provider);
  sendJson(response, 200, body);
}

/** Encodes an answer's events in one dialect; one instance per stream. */
export interface StreamRenderer {
  /** Returns the server-sent events for a canonical event, if any. */
  render(event: CanonicalEvent): Buffer | string | undefined;
  /** Returns what follows a complete answer. */
  end(): Buffer | string;
  /** Returns the dialect's final event when an answer fails midway. */
  error(error: GatewayError): string;
  /**
   * Returns a whole stream for an error that the dialect reports as one before the answer begins;
   * else undefined.
   */
  refusal?(error: unknown): string | undefined;
}

/**
 * Sends an answer as server-sent events. Writes nothing before the first rendered event, so an
 * earlier failure is an ordinary error response, unless the dialect streams it. Later failures are
 * reported in-band.
 *
 * @throws GatewayError or CallerGoneError when nothing has been sent yet
 */
async function deliverStream(
  response: ServerResponse,
  events: AsyncIterable<CanonicalEvent>,
  renderer: StreamRenderer,
): Promise<void> {
  const writer = new SseWriter(response);
  response.once(SERVICE_STOPS, () => writer.cut(renderer.error(new ServiceStopsError())));
  try {
    for await (const event of events) {
      if (event.type === 'route') setRouteHeaders(response, event);
      const bytes = renderer.render(event);
      if (bytes === undefined || bytes.length === 0) continue;
      const lagging = writer.write(bytes);
      if (lagging) await lagging;
    }
    await writer.write(renderer.end());
  } catch (error) {
    if (response.destroyed) return;
    if (!response.headersSent) {
      const refusal = renderer.refusal?.(error);
      if (refusal === undefined) throw error;
      await writer.write(refusal);
      return;
    }
    if (error instanceof CallerGoneError) return;
    if (!(error instanceof GatewayError)) logger.error(error);
    writer.cut(renderer.error(gatewayErrorOf(error)));
  } finally {
    writer.end();
  }
}
