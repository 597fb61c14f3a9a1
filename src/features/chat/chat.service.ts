import { Injectable } from '@nestjs/common';
import { collect } from '../../canonical/collect.js';
import type { CanonicalEvent } from '../../canonical/canonical-event.js';
import { AnswersService } from '../../core/answers/answers.service.js';
import type { Call } from '../../core/answers/call.js';
import { asStream, asWhole, type Reply } from '../../core/answers/deliver.js';
import { readJsonBody } from '../../platform/http/read-json-body.js';
import { parseChat, wantsUsageChunk } from './chat.parse.js';
import { ChatStreamRenderer, renderChatCompletion } from './chat.render.js';

/** Chat completions. */
@Injectable()
export class ChatService {
  constructor(private readonly answers: AnswersService) {}

  /** Answers one call, streamed or whole. @throws GatewayError when it is refused */
  async complete(call: Call): Promise<Reply<CanonicalEvent>> {
    const request = parseChat(await readJsonBody(call.body));
    const answer = await this.answers.generate(call, 'chat', request);
    const options = {
      requestId: call.requestId,
      model: request.models[0],
      created: Math.floor(call.receivedAt.getTime() / 1000),
      includeUsage: wantsUsageChunk(request),
    };
    const send = request.stream
      ? asStream(new ChatStreamRenderer(options))
      : asWhole(collect, (whole) => renderChatCompletion(whole, options));
    return { answer, send };
  }
}
