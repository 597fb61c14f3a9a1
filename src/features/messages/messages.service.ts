import { Injectable } from '@nestjs/common';
import { collect } from '../../canonical/collect.js';
import type { CanonicalEvent } from '../../canonical/canonical-event.js';
import { estimateTokens } from '../../canonical/prompt-size.js';
import { AnswersService } from '../../core/answers/answers.service.js';
import type { Call } from '../../core/answers/call.js';
import { asStream, asWhole, type Reply } from '../../core/answers/deliver.js';
import { readJsonBody } from '../../platform/http/read-json-body.js';
import { parseCountTokens, parseMessages } from './messages.parse.js';
import { MessagesStreamRenderer, renderMessage } from './messages.render.js';

/** Answers requests in the messages dialect. */
@Injectable()
export class MessagesService {
  constructor(private readonly answers: AnswersService) {}

  /** Answers a call, streamed or whole. @throws GatewayError when it is rejected */
  async create(call: Call): Promise<Reply<CanonicalEvent>> {
    const { requestId, headers } = call;
    const request = parseMessages(await readJsonBody(call.body), headers);
    const answer = await this.answers.generate(call, 'messages', request);
    const promptCharacters = request.promptSize.characters;
    const send = request.stream
      ? asStream(new MessagesStreamRenderer({ requestId, promptCharacters }))
      : asWhole(collect, (whole) => renderMessage(whole, requestId));
    return { answer, send };
  }

  /**
   * Counts the prompt's tokens: by the first route's vendor, else an estimate by length. Free and
   * not logged.
   *
   * @throws GatewayError when it is rejected
   */
  async countTokens(call: Call): Promise<{ provider: string | undefined; body: object }> {
    const request = parseCountTokens(await readJsonBody(call.body), call.headers);
    const counted = await this.answers.countTokens(call, request);
    const tokens = counted?.tokens ?? estimateTokens(request.promptSize.characters);
    return { provider: counted?.provider, body: { input_tokens: tokens } };
  }
}
