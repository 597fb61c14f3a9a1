import { Injectable } from '@nestjs/common';
import type { Response } from 'express';
import type { Caller } from '../access/caller.js';
import { collect } from '../canonical/collect.js';
import { estimateTokens } from '../canonical/estimate-tokens.js';
import { readJsonBody } from '../common/http/read-json-body.js';
import type { IdentifiedRequest } from '../common/http/request-id.middleware.js';
import { sendJson } from '../common/http/send-json.js';
import { callerGoneSignal } from '../delivery/caller-gone.js';
import { deliverStream, setRouteHeaders } from '../delivery/deliver-stream.js';
import { LedgerService } from '../ledger/ledger.service.js';
import { RoutingService } from '../routing/routing.service.js';
import { parseCountTokens, parseMessages } from './messages.parse.js';
import { MessagesStreamRenderer } from './messages.render.js';
import { renderMessage } from './render-message.js';

/** Messages: parse, plan, hold, open, settle, render. */
@Injectable()
export class MessagesService {
  constructor(
    private readonly routing: RoutingService,
    private readonly ledger: LedgerService,
  ) {}

  /** Answers one call, streamed or whole. @throws GatewayError before anything was sent */
  async create(caller: Caller, received: IdentifiedRequest, response: Response): Promise<void> {
    const { requestId, receivedAt, headers } = received;
    // Here and not in a pipe: the guards have run by now, and a parameter pipe costs 40 µs.
    const request = parseMessages(await readJsonBody(received), headers);
    const callerGone = callerGoneSignal(response);
    const context = { requestId, endpoint: 'messages', receivedAt, callerGone };
    const plan = await this.routing.plan(caller, request, context);
    const hold = await this.ledger.hold(caller, plan);
    const events = this.ledger.settle(hold, this.routing.open(plan, hold));

    response.setHeader('X-Cache', 'MISS');
    if (request.stream) {
      const promptCharacters = request.promptSize.characters;
      const renderer = new MessagesStreamRenderer({ requestId, promptCharacters });
      await deliverStream(response, events, renderer);
      return;
    }
    const answer = await collect(events);
    setRouteHeaders(response, answer);
    response.setHeader('X-Gateway-Cost', answer.settled.cost);
    sendJson(response, 200, renderMessage(answer, requestId));
  }

  /**
   * How many tokens the prompt is, by the count of the first route's vendor or else by its length.
   * Costs nothing and is not logged; `X-Gateway-Provider` tells who counted.
   *
   * @throws GatewayError
   */
  async countTokens(
    caller: Caller,
    received: IdentifiedRequest,
    response: Response,
  ): Promise<void> {
    const { requestId, receivedAt, headers } = received;
    const request = parseCountTokens(await readJsonBody(received), headers);
    const callerGone = callerGoneSignal(response);
    const context = { requestId, endpoint: 'count_tokens', receivedAt, callerGone };
    const plan = await this.routing.plan(caller, request, context);
    const counted = await this.routing.countTokens(plan);
    if (counted) response.setHeader('X-Gateway-Provider', counted.provider);
    const tokens = counted?.tokens ?? estimateTokens(request.promptSize.characters);
    sendJson(response, 200, { input_tokens: tokens });
  }
}
