import { Injectable } from '@nestjs/common';
import type { CanonicalEvent, RouteEvent } from '../../canonical/canonical-event.js';
import { AnswersService } from '../../core/answers/answers.service.js';
import type { Call } from '../../core/answers/call.js';
import { asStream, asWhole, type DeferredReply, type Reply } from '../../core/answers/deliver.js';
import type { MakeRecord } from '../../core/ledger/ledger-operations.js';
import type { JsonBody } from '../../platform/http/json-body.js';
import { readJsonBody } from '../../platform/http/read-json-body.js';
import { BackgroundResponses } from './background/background-responses.service.js';
import { ConversationContextService } from './conversation-context.service.js';
import { ResponseAnswer } from './response-answer.js';
import { toResponseError } from './response-object.js';
import { newResponseId } from './item-id.js';
import type { ResponsesBody } from './create-response.schema.js';
import { checkResponsesBody, parseResponses } from './responses.parse.js';
import { ResponsesStreamRenderer, renderResponse } from './responses.render.js';
import { storedResponseRecord, type StoredTurn } from './stored-turn.js';

/** Creates responses and stores them for later turns. */
@Injectable()
export class ResponsesService {
  constructor(
    private readonly answers: AnswersService,
    private readonly context: ConversationContextService,
    private readonly background: BackgroundResponses,
  ) {}

  /**
   * Answers a call, streamed or whole, or queues it in the background.
   * @throws GatewayError when it is rejected
   */
  async create(call: Call): Promise<Reply<CanonicalEvent> | DeferredReply> {
    const { tenantId } = call.caller;
    const { body, context, request } = await this.read(await readJsonBody(call.body), call);
    const { conversation, ownItems } = context;
    const { answerId } = request;
    const subject = { request, createdAt: Math.floor(call.receivedAt.getTime() / 1000) };
    if (body.value.background === true) {
      return { body: await this.background.create(call, { body, context, subject }) };
    }
    const renderer = request.stream ? new ResponsesStreamRenderer(subject) : undefined;
    const response = renderer?.answer ?? new ResponseAnswer(subject);
    const turn = {
      id: answerId,
      tenantId,
      requestId: call.requestId,
      createdAt: call.receivedAt,
      conversation,
      ownItems,
      isStored: response.wantsStore,
      get input() {
        return textOfInput(body);
      },
    };
    const isKept = response.wantsStore || conversation?.storedIn !== undefined;
    const record = isKept ? recordOf(turn, response, request.stream) : undefined;
    const answer = await this.answers.generate(call, 'responses', request, record);
    const send = renderer
      ? asStream(renderer)
      : asWhole(
          (events: AsyncIterable<CanonicalEvent>) => foldResponse(response, events),
          () => renderResponse(response),
        );
    return { answer, send };
  }

  /** Reads a body and everything it refers to. @throws GatewayError naming the invalid field */
  async read(received: JsonBody, call: Call) {
    const body: JsonBody<ResponsesBody> = checked(received);
    const context = await this.context.load(call, body.value);
    const answerId = newResponseId();
    const request = { ...parseResponses(body, { answerId, ...context }), answerId };
    return { body, context, request };
  }
}

function checked(body: JsonBody): JsonBody<ResponsesBody> {
  checkResponsesBody(body);
  return body;
}

/** Folds a whole answer into the response object. @returns the header values */
export async function foldResponse(
  response: ResponseAnswer,
  events: AsyncIterable<CanonicalEvent>,
) {
  let route: RouteEvent | undefined;
  for await (const event of events) {
    response.observe(event);
    if (event.type === 'route') route = event;
  }
  const { settled } = response;
  if (!route || !settled) throw new Error('the answer has no route or settlement');
  return { route: route.route, droppedParams: route.droppedParams, settled };
}

/** Returns the JSON of the turn's own input as received. */
export function textOfInput({ bytes, members }: JsonBody): string {
  const input = members.findLast(({ key }) => key === 'input')!;
  return bytes.toString('utf8', input.valueStart, input.valueEnd);
}

/**
 * Builds the stored record of an ended turn. Failed turns are stored only when streamed, since
 * only then has the caller seen the id. Turns of disconnected callers are not stored.
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
    const isFailed = outcome === 'failed' || outcome === 'timeout';
    if (!turn.isStored || !isFailed || !isStreamed || !answer.hasBegun) return undefined;
    const failed = answer.failedSnapshot(toResponseError(failure));
    return storedResponseRecord({ ...turn, answer: failed });
  };
}
