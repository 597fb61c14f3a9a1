import type { CanonicalEvent } from '../../canonical/canonical-event.js';
import type { CanonicalRequest } from '../../canonical/canonical-request.js';
import { isJsonObject } from '../../common/http/json-body.js';
import type { ProviderConfig } from '../../common/config/app-config.js';
import { ChatStreamRelay } from '../dialects/chat/chat-stream-relay.js';
import { classifyChatError } from '../dialects/chat/classify-chat-error.js';
import { encodeChatRequest } from '../dialects/chat/encode-chat-request.js';
import { relayChatAnswer } from '../dialects/chat/relay-chat-answer.js';
import type { HttpTransport } from '../transport/http-transport.js';
import { CallAbortedError, type UpstreamResponse } from '../transport/upstream-response.js';
import { UpstreamError } from '../upstream-error.js';
import type { ProbeCall, Upstream, UpstreamCall } from '../upstream.js';

const MAX_ANSWER_BYTES = 64 * 1024 * 1024;
const MAX_ERROR_BYTES = 256 * 1024;

/** Shorter ones are stand-ins for servers that need no key, and may be any word. */
const MIN_KEY_LENGTH = 8;

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
      if (response.status !== 200) throw await readError(response);
      if (call.request.stream) yield* this.stream(response, call);
      else yield* relayChatAnswer(await response.readAll(MAX_ANSWER_BYTES), call.alias);
    } catch (error) {
      // Callers and the log read what vendors say of a failure, which may repeat our key.
      const { apiKey = '' } = this.provider;
      const isSecret = apiKey.length >= MIN_KEY_LENGTH;
      throw isSecret && error instanceof UpstreamError ? error.without(apiKey) : error;
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
    if (response.status !== 200) throw await readError(response);
    response.drain();
  }

  private async *stream(
    response: UpstreamResponse,
    { alias, request }: UpstreamCall,
  ): AsyncGenerator<CanonicalEvent> {
    const contentType = response.headers['content-type'] ?? '';
    if (!String(contentType).toLowerCase().startsWith('text/event-stream')) {
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
      if (relay.failure) throw relay.failure;
      if (relay.isDone) {
        response.drain();
        break;
      }
    }
    yield* relay.end();
  }
}

async function readError(response: UpstreamResponse): Promise<UpstreamError> {
  let body: unknown;
  try {
    body = JSON.parse((await response.readAll(MAX_ERROR_BYTES)).toString('utf8'));
  } catch (error) {
    if (error instanceof CallAbortedError) throw error;
    // A proxy's HTML page, say, or one that breaks off: the status has to do.
  }
  return classifyChatError(response.status, response.headers, body);
}
