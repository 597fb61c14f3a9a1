import { Injectable } from '@nestjs/common';
import type { Response } from 'express';
import { callerOf } from '../../core/access/current-caller.decorator.js';
import type { GatewayRequest } from '../../core/access/gateway-request.js';
import { setRateLimitHeaders } from '../../core/access/rate-limit-headers.js';
import { readCacheTtl } from '../../core/routing/cache/read-cache-ttl.js';
import { collect } from '../../canonical/collect.js';
import { readJsonBody } from '../../platform/http/read-json-body.js';
import { sendJson } from '../../platform/http/send-json.js';
import { callerGoneSignal } from '../../core/answers/caller-gone.js';
import {
  deliverStream,
  setCacheHeaders,
  setRouteHeaders,
} from '../../core/answers/deliver-stream.js';
import { GuardrailsService } from '../../core/guardrails/guardrails.service.js';
import { LedgerService } from '../../core/ledger/ledger.service.js';
import { RoutingService } from '../../core/routing/routing.service.js';
import { TracingService } from '../../core/tracing/tracing.service.js';
import { parseChat, wantsUsageChunk } from './chat.parse.js';
import { ChatStreamRenderer, renderChatCompletion } from './chat.render.js';

/** Chat completions: parse, plan, admit, hold, open, watch, settle, render. */
@Injectable()
export class ChatService {
  constructor(
    private readonly routing: RoutingService,
    private readonly ledger: LedgerService,
    private readonly guardrails: GuardrailsService,
    private readonly tracing: TracingService,
  ) {}

  /** Answers one call, streamed or whole. @throws GatewayError before anything was sent */
  async complete(received: GatewayRequest, response: Response): Promise<void> {
    const caller = callerOf(received);
    const { requestId, receivedAt, rateLimit } = received;
    if (rateLimit) setRateLimitHeaders(response, rateLimit);
    // Here and not in a pipe: the guards have run by now, and a parameter pipe costs 40 µs.
    const parsed = parseChat(await readJsonBody(received));
    const guard = await this.guardrails.guard(caller, this.ledger, response);
    const request = guard.prepare(parsed);
    const callerGone = callerGoneSignal(response);
    const cacheTtlSeconds = readCacheTtl(received.headers);
    const context = { requestId, endpoint: 'chat', receivedAt, callerGone, cacheTtlSeconds };
    const plan = await this.routing.plan(caller, request, context);
    const origin = { tenantId: caller.tenantId, headers: received.headers, response };
    this.tracing.follow(plan, origin);
    await guard.admit(plan);
    const hold = await this.ledger.hold(caller, plan);
    const watched = guard.watch(plan, this.routing.open(plan, hold));
    const events = this.ledger.settle(hold, this.routing.keep(plan, watched));

    const options = {
      requestId,
      model: request.models[0],
      created: Math.floor(receivedAt.getTime() / 1000),
      includeUsage: wantsUsageChunk(request),
    };
    setCacheHeaders(response, plan.cache?.hit?.route);
    if (request.stream) {
      await deliverStream(response, events, new ChatStreamRenderer(options));
      return;
    }
    const answer = await collect(events);
    setRouteHeaders(response, answer);
    response.setHeader('X-Gateway-Cost', answer.settled.cost);
    sendJson(response, 200, renderChatCompletion(answer, options));
  }
}
