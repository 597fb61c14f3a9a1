import type { CanonicalEvent } from '../../canonical/canonical-event.js';
import type { CanonicalRequest } from '../../canonical/canonical-request.js';
import { isJsonObject } from '../../common/http/json-body.js';
import type { ProviderConfig } from '../../common/config/app-config.js';
import { assertEventStream } from '../dialects/assert-event-stream.js';
import { ChatStreamRelay } from '../dialects/chat/chat-stream-relay.js';
import { classifyChatError } from '../dialects/chat/classify-chat-error.js';
import { encodeChatRequest } from '../dialects/chat/encode-chat-request.js';
import { relayChatAnswer } from '../dialects/chat/relay-chat-answer.js';
import { hideOwnKey } from '../dialects/hide-own-key.js';
import { readFailedAnswer } from '../dialects/read-failed-answer.js';
import type { HttpTransport } from '../transport/http-transport.js';
import type { UpstreamResponse } from '../transport/upstream-response.js';
import type { ProbeCall, Upstream, UpstreamCall } from '../upstream.js';

const MAX_ANSWER_BYTES = 64 * 1024 * 1024;

/** The names that may stand in a response header; any others are the caller's invention. */
const REASONING_FIELDS = new Set(['max_tokens', 'exclude', 'enabled', 'summary']);

/** OpenAI and every server that speaks its chat completions API. */
export class OpenAiAdapter implements Upstream {
  private readonly chatUrl: URL;
  private readonly modelsUrl: URL;
  private readonly headers: Record<string, string>;

  constructor(
    private readonly provider: ProviderConfig,
    private readonly transport: HttpTransport,
  ) {
    this.chatUrl = new URL(`${provider.baseUrl}/chat/completions`);
    this.modelsUrl = new URL(`${provider.baseUrl}/models`);
    this.headers = {
      'content-type': 'application/json',
      'user-agent': 'model-gateway',
      ...(provider.apiKey !== undefined && { authorization: `Bearer ${provider.apiKey}` }),
    };
  }

  /** Of `reasoning` only the effort has a counterpart. */
  droppedParams({ body }: CanonicalRequest): readonly string[] {
    const { reasoning } = body.value;
    if (!isJsonObject(reasoning)) return [];
    const dropped = Object.keys(reasoning)
      .filter((key) => key !== 'effort' && reasoning[key] != null)
      .map((key) => (REASONING_FIELDS.has(key) ? `reasoning.${key}` : 'reasoning'));
    return [...new Set(dropped)];
  }

  async *generate(call: UpstreamCall): AsyncGenerator<CanonicalEvent> {
    try {
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
      if (response.status !== 200) throw await readFailedAnswer(response, classifyChatError);
      if (call.request.stream) yield* this.stream(response, call);
      else yield* relayChatAnswer(await response.readAll(MAX_ANSWER_BYTES), call.alias);
    } catch (error) {
      throw hideOwnKey(error, this.provider.apiKey);
    }
  }

  async probe({ limits, signal }: ProbeCall): Promise<void> {
    const response = await this.transport.call({
      method: 'GET',
      url: this.modelsUrl,
      headers: this.headers,
      limits,
      signal,
    });
    if (response.status !== 200) throw await readFailedAnswer(response, classifyChatError);
    response.drain();
  }

  private async *stream(
    response: UpstreamResponse,
    { alias, request }: UpstreamCall,
  ): AsyncGenerator<CanonicalEvent> {
    assertEventStream(response);
    const streamOptions = request.body.value.stream_options;
    const includeUsage = isJsonObject(streamOptions) && streamOptions.include_usage === true;
    const relay = new ChatStreamRelay({ alias, includeUsage });
    for await (const chunk of response) {
      for (const event of relay.push(chunk)) yield event;
      if (relay.failure) throw relay.failure;
      if (relay.isDone) {
        response.drain();
        break;
      }
    }
    yield* relay.end();
  }
}
