import { Injectable } from '@nestjs/common';
import type { Response } from 'express';
import { callerOf } from '../../core/access/current-caller.decorator.js';
import type { GatewayRequest } from '../../core/access/gateway-request.js';
import { setRateLimitHeaders } from '../../core/access/rate-limit-headers.js';
import { readCacheTtl } from '../../core/routing/cache/read-cache-ttl.js';
import type { RouteEvent } from '../../canonical/canonical-event.js';
import type { JsonBody } from '../../platform/http/json-body.js';
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
import type { MakeRecord } from '../../core/ledger/settlement-record.js';
import { RoutingService } from '../../core/routing/routing.service.js';
import { TracingService } from '../../core/tracing/tracing.service.js';
import { ConversationsService } from './conversations.service.js';
import { ItemReferencesService } from './item-references.service.js';
import { ResponseAnswer } from './response-answer.js';
import { toResponseError } from './response-failure.js';
import { newResponseId } from './response-id.js';
import { checkResponsesBody, parseResponses } from './responses.parse.js';
import { ResponsesStreamRenderer, renderResponse } from './responses.render.js';
import { storedResponseRecord, type StoredTurn } from './stored-response-record.js';

/** Responses: parse, load what went before, plan, hold, open, settle and keep, render. */
@Injectable()
export class ResponsesService {
  constructor(
    private readonly routing: RoutingService,
    private readonly ledger: LedgerService,
    private readonly conversations: ConversationsService,
    private readonly itemReferences: ItemReferencesService,
    private readonly guardrails: GuardrailsService,
    private readonly tracing: TracingService,
  ) {}

  /** Answers one call, streamed or whole. @throws GatewayError before anything was sent */
  async create(received: GatewayRequest, response: Response): Promise<void> {
    const caller = callerOf(received);
    const { requestId, receivedAt, rateLimit } = received;
    if (rateLimit) setRateLimitHeaders(response, rateLimit);
    const body = await readJsonBody(received);
    checkResponsesBody(body);
    const previousId = body.value.previous_response_id as string | null | undefined;
    const earlier =
      previousId == null ? undefined : await this.conversations.load(caller.tenantId, previousId);
    const { conversation, ownItems } = await this.itemReferences.resolve(
      caller.tenantId,
      body.value.input,
      earlier,
    );
    const answerId = newResponseId();
    const guard = await this.guardrails.guard(caller, this.ledger, response);
    const parsed = parseResponses(body, { answerId, conversation, ownItems });
    const request = guard.prepare({ ...parsed, answerId });

    const callerGone = callerGoneSignal(response);
    const cacheTtlSeconds = readCacheTtl(received.headers);
    const context = { requestId, endpoint: 'responses', receivedAt, callerGone, cacheTtlSeconds };
    const plan = await this.routing.plan(caller, request, context);
    const origin = { tenantId: caller.tenantId, headers: received.headers, response };
    this.tracing.follow(plan, origin);
    await guard.admit(plan);
    const hold = await this.ledger.hold(caller, plan);

    const subject = { request, createdAt: Math.floor(receivedAt.getTime() / 1000) };
    const renderer = request.stream ? new ResponsesStreamRenderer(subject) : undefined;
    const answer = renderer?.answer ?? new ResponseAnswer(subject);
    const turn = {
      id: answerId,
      tenantId: caller.tenantId,
      requestId,
      createdAt: receivedAt,
      conversation,
      get input() {
        return textOfInput(body);
      },
    };
    const record = answer.wantsStore ? recordOf(turn, answer, request.stream) : undefined;
    const watched = guard.watch(plan, this.routing.open(plan, hold));
    const events = this.ledger.settle(hold, this.routing.keep(plan, watched), record);

    setCacheHeaders(response, plan.cache?.hit?.route);
    if (renderer) {
      await deliverStream(response, events, renderer);
      return;
    }
    let route: RouteEvent | undefined;
    for await (const event of events) {
      answer.observe(event);
      if (event.type === 'route') route = event;
    }
    setRouteHeaders(response, route!);
    response.setHeader('X-Gateway-Cost', answer.settled!.cost);
    sendJson(response, 200, renderResponse(answer));
  }
}

/** The JSON of the turn's own input, as it was received. */
function textOfInput({ bytes, members }: JsonBody): string {
  const input = members.findLast(({ key }) => key === 'input')!;
  return bytes.toString('utf8', input.valueStart, input.valueEnd);
}

/**
 * What is kept of a turn when it has ended. Of one that failed only when its caller has seen its
 * id, that is in a stream; of one whose caller left nothing.
 */
function recordOf(
  turn: Omit<StoredTurn, 'answer'>,
  answer: ResponseAnswer,
  isStreamed: boolean,
): MakeRecord {
  return ({ outcome, usage, failure }) => {
    if (outcome === 'completed') {
      return storedResponseRecord({ ...turn, answer: answer.snapshot(usage) });
    }
    if (outcome !== 'failed' || !isStreamed || !answer.hasBegun) return undefined;
    const failed = answer.failedSnapshot(toResponseError(failure));
    return storedResponseRecord({ ...turn, answer: failed });
  };
}
