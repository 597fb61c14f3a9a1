import { Injectable } from '@nestjs/common';
import type { CanonicalEvent, RouteEvent } from '../../canonical/canonical-event.js';
import { AnswersService } from '../../core/answers/answers.service.js';
import type { Call } from '../../core/answers/call.js';
import { asStream, asWhole, type Reply } from '../../core/answers/deliver.js';
import type { MakeRecord } from '../../core/ledger/ledger-operations.js';
import type { JsonBody } from '../../platform/http/json-body.js';
import { readJsonBody } from '../../platform/http/read-json-body.js';
import { ConversationsService } from './conversations.service.js';
import { ItemReferencesService } from './item-references.service.js';
import { ResponseAnswer } from './response-answer.js';
import { toResponseError } from './response-object.js';
import { newResponseId } from './item-id.js';
import { checkResponsesBody, parseResponses } from './responses.parse.js';
import { ResponsesStreamRenderer, renderResponse } from './responses.render.js';
import { storedResponseRecord, type StoredTurn } from './stored-responses.repository.js';

/** Responses: an answer to what went before, which is kept for what may come after. */
@Injectable()
export class ResponsesService {
  constructor(
    private readonly answers: AnswersService,
    private readonly conversations: ConversationsService,
    private readonly itemReferences: ItemReferencesService,
  ) {}

  /** Answers one call, streamed or whole. @throws GatewayError when it is refused */
  async create(call: Call): Promise<Reply<CanonicalEvent>> {
    const { tenantId } = call.caller;
    const body = await readJsonBody(call.body);
    checkResponsesBody(body);
    const previousId = body.value.previous_response_id as string | null | undefined;
    const earlier =
      previousId == null ? undefined : await this.conversations.load(tenantId, previousId);
    const { conversation, ownItems } = await this.itemReferences.resolve(
      tenantId,
      body.value.input,
      earlier,
    );
    const answerId = newResponseId();
    const request = { ...parseResponses(body, { answerId, conversation, ownItems }), answerId };

    const subject = { request, createdAt: Math.floor(call.receivedAt.getTime() / 1000) };
    const renderer = request.stream ? new ResponsesStreamRenderer(subject) : undefined;
    const response = renderer?.answer ?? new ResponseAnswer(subject);
    const turn = {
      id: answerId,
      tenantId,
      requestId: call.requestId,
      createdAt: call.receivedAt,
      conversation,
      get input() {
        return textOfInput(body);
      },
    };
    const record = response.wantsStore ? recordOf(turn, response, request.stream) : undefined;
    const answer = await this.answers.generate(call, 'responses', request, record);
    const send = renderer
      ? asStream(renderer)
      : asWhole(
          (events: AsyncIterable<CanonicalEvent>) => fold(response, events),
          () => renderResponse(response),
        );
    return { answer, send };
  }
}

/** Has the response object take in a whole answer. @returns what its headers tell */
async function fold(response: ResponseAnswer, events: AsyncIterable<CanonicalEvent>) {
  let route: RouteEvent | undefined;
  for await (const event of events) {
    response.observe(event);
    if (event.type === 'route') route = event;
  }
  const { settled } = response;
  if (!route || !settled) throw new Error('an answer without its route or settlement');
  return { route: route.route, droppedParams: route.droppedParams, settled };
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
    const isFailed = outcome === 'failed' || outcome === 'timeout';
    if (!isFailed || !isStreamed || !answer.hasBegun) return undefined;
    const failed = answer.failedSnapshot(toResponseError(failure));
    return storedResponseRecord({ ...turn, answer: failed });
  };
}
