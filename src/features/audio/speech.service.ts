import { Injectable } from '@nestjs/common';
import type { Response } from 'express';
import { callerOf } from '../../core/access/current-caller.decorator.js';
import type { GatewayRequest } from '../../core/access/gateway-request.js';
import { setRateLimitHeaders } from '../../core/access/rate-limit-headers.js';
import { readJsonBody } from '../../platform/http/read-json-body.js';
import { callerGoneSignal } from '../../core/answers/caller-gone.js';
import { GuardrailsService } from '../../core/guardrails/guardrails.service.js';
import { LedgerService } from '../../core/ledger/ledger.service.js';
import { RoutingService } from '../../core/routing/routing.service.js';
import { TracingService } from '../../core/tracing/tracing.service.js';
import { AudioSink, EventSink, deliverSpeech } from './deliver-speech.js';
import { parseSpeech } from './speech.parse.js';

/** Text to speech: parse, plan, admit, hold, open, settle, and pass the bytes on as they come. */
@Injectable()
export class SpeechService {
  constructor(
    private readonly routing: RoutingService,
    private readonly ledger: LedgerService,
    private readonly guardrails: GuardrailsService,
    private readonly tracing: TracingService,
  ) {}

  /** Answers one call. @throws GatewayError before anything was sent */
  async create(received: GatewayRequest, response: Response): Promise<void> {
    const caller = callerOf(received);
    const { requestId, receivedAt, rateLimit } = received;
    if (rateLimit) setRateLimitHeaders(response, rateLimit);
    const request = parseSpeech(await readJsonBody(received));
    const callerGone = callerGoneSignal(response);
    const context = { requestId, endpoint: 'audio.speech', receivedAt, callerGone };
    const plan = await this.routing.plan(caller, request, context);
    const origin = { tenantId: caller.tenantId, headers: received.headers, response };
    this.tracing.follow(plan, origin);
    const guard = await this.guardrails.guard(caller, this.ledger, response);
    await guard.admitTexts(plan, [request.text, request.instructions ?? ''], 'input');
    const hold = await this.ledger.hold(caller, plan);
    const events = this.ledger.settle(
      hold,
      this.routing.openWork(plan, hold, (upstream, call) => upstream.speak?.(call)),
    );

    response.setHeader('X-Cache', 'MISS');
    const isEvents = request.body.value.stream_format === 'sse';
    const sink = isEvents ? new EventSink(response) : new AudioSink(response);
    await deliverSpeech(response, events, sink);
  }
}
