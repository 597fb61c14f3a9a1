import { Injectable } from '@nestjs/common';
import { collect } from '../../canonical/collect.js';
import type { CanonicalEvent } from '../../canonical/canonical-event.js';
import type { CanonicalRequest } from '../../canonical/canonical-request.js';
import { AnswersService } from '../../core/answers/answers.service.js';
import type { Call } from '../../core/answers/call.js';
import { asStream, asWhole, type Reply } from '../../core/answers/deliver.js';
import { readJsonBody } from '../../platform/http/read-json-body.js';
import { parseChat, wantsUsageChunk } from './chat.parse.js';
import { ChatStreamRenderer, renderChatCompletion, type ChatRenderOptions } from './chat.render.js';
import { parseCompletion } from './completions.parse.js';
import { CompletionStreamRenderer, renderCompletion } from './completions.render.js';

/** Answers chat completions and legacy completions. */
@Injectable()
export class ChatService {
  constructor(private readonly answers: AnswersService) {}

  /** Answers a call, streamed or whole. @throws GatewayError when it is rejected */
  async complete(call: Call): Promise<Reply<CanonicalEvent>> {
    const request = parseChat(await readJsonBody(call.body));
    const answer = await this.answers.generate(call, 'chat', request);
    const options = optionsOf(call, request);
    const send = request.stream
      ? asStream(new ChatStreamRenderer(options))
      : asWhole(collect, (whole) => renderChatCompletion(whole, options));
    return { answer, send };
  }

  /** Answers a legacy completion. @throws GatewayError when it is rejected */
  async completeText(call: Call): Promise<Reply<CanonicalEvent>> {
    const request = parseCompletion(await readJsonBody(call.body));
    const answer = await this.answers.generate(call, 'completions', request);
    const options = optionsOf(call, request);
    const send = request.stream
      ? asStream(new CompletionStreamRenderer(options))
      : asWhole(collect, (whole) => renderCompletion(whole, options));
    return { answer, send };
  }
}

function optionsOf({ requestId, receivedAt }: Call, request: CanonicalRequest): ChatRenderOptions {
  return {
    requestId,
    model: request.models[0],
    created: Math.floor(receivedAt.getTime() / 1000),
    includeUsage: wantsUsageChunk(request),
  };
}
