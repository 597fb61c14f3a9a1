import type { CanonicalEvent } from '../../canonical/canonical-event.js';
import { isJsonObject } from '../../common/http/json-body.js';
import type { ProviderConfig } from '../../common/config/app-config.js';
import { ChatStreamRelay } from '../dialects/chat/chat-stream-relay.js';
import { classifyChatError } from '../dialects/chat/classify-chat-error.js';
import { encodeChatRequest } from '../dialects/chat/encode-chat-request.js';
import { relayChatAnswer } from '../dialects/chat/relay-chat-answer.js';
import type { HttpTransport } from '../transport/http-transport.js';
import type { UpstreamResponse } from '../transport/upstream-response.js';
import { UpstreamError } from '../upstream-error.js';
import type { Upstream, UpstreamCall } from '../upstream.js';

const MAX_ANSWER_BYTES = 64 * 1024 * 1024;
const MAX_ERROR_BYTES = 256 * 1024;

/** OpenAI and every server that speaks its chat completions API. */
export class OpenAiAdapter implements Upstream {
  private readonly chatUrl: URL;
  private readonly headers: Record<string, string>;

  constructor(
    provider: ProviderConfig,
    private readonly transport: HttpTransport,
  ) {
    this.chatUrl = new URL(`${provider.baseUrl}/chat/completions`);
    this.headers = {
      'content-type': 'application/json',
      'user-agent': 'model-gateway',
      ...(provider.apiKey !== undefined && { authorization: `Bearer ${provider.apiKey}` }),
    };
  }

  droppedParams(): readonly string[] {
    return [];
  }

  async *generate(call: UpstreamCall): AsyncGenerator<CanonicalEvent> {
    const response = await this.transport.call({
      method: 'POST',
      url: this.chatUrl,
      headers: {
        ...this.headers,
        accept: call.request.stream ? 'text/event-stream' : 'application/json',
      },
      body: encodeChatRequest(call.request, call.upstreamModel),
      limits: call.limits,
      signal: call.signal,
    });
    if (response.status !== 200) throw await readError(response);
    if (call.request.stream) yield* this.stream(response, call);
    else yield* relayChatAnswer(await response.readAll(MAX_ANSWER_BYTES), call.alias);
  }

  private async *stream(
    response: UpstreamResponse,
    { alias, request }: UpstreamCall,
  ): AsyncGenerator<CanonicalEvent> {
    const contentType = response.headers['content-type'] ?? '';
    if (!String(contentType).startsWith('text/event-stream')) {
      response.cancel();
      throw new UpstreamError({
        failure: 'unreadable',
        message: `content-type ${String(contentType).slice(0, 80)} instead of a stream`,
      });
    }
    const streamOptions = request.body.value.stream_options;
    const includeUsage = isJsonObject(streamOptions) && streamOptions.include_usage === true;
    const relay = new ChatStreamRelay({ alias, includeUsage });
    for await (const chunk of response) {
      for (const event of relay.push(chunk)) yield event;
      if (relay.isDone) {
        response.drain();
        break;
      }
    }
    yield* relay.end();
  }
}

async function readError(response: UpstreamResponse): Promise<UpstreamError> {
  const bytes = await response.readAll(MAX_ERROR_BYTES);
  let body: unknown;
  try {
    body = JSON.parse(bytes.toString('utf8'));
  } catch {
    // A proxy's HTML page, say: the status has to do.
  }
  return classifyChatError(response.status, response.headers, body);
}
