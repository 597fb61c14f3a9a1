import { listedModels } from '../listed-models.js';
import { isContent, type CanonicalEvent } from '../../../canonical/canonical-event.js';
import { isRelayed, type CanonicalRequest } from '../../../canonical/canonical-request.js';
import { NO_USAGE } from '../../../canonical/usage.js';
import { isJsonObject } from '../../../platform/http/json-body.js';
import type { HttpTransport } from '../../transport/http-transport.js';
import type { DroppingRoute, ProbeCall, Upstream, UpstreamCall } from '../../upstream.js';
import { CHAT_FIELDS, nameUnknown } from '../known-fields.js';
import { nameCallerParam } from '../name-caller-param.js';
import {
  readEventStream,
  type EventStreamReader,
  isUnstreamed,
  readUnstreamed,
} from '../read-event-stream.js';
import { readFailedAnswer, redactKey } from '../failed-answer.js';
import { VendorAnswer, type AnswerEvents } from '../vendor-answer.js';
import { ChatStreamDecoder } from './chat-stream-decoder.js';
import { ChatStreamRelay } from './chat-stream-relay.js';
import { classifyChatError, classifyInlineChatError } from './classify-chat-error.js';
import { decodeChatAnswer } from './decode-chat-answer.js';
import {
  CHAT_GATEWAY_FIELDS,
  encodeChatRequest,
  encodeChatPrompt,
  fieldsChatLacks,
  type ChatServerTraits,
  type OutputLimitField,
} from './encode-chat-request.js';
import { relayChatAnswer } from './relay-chat-answer.js';

const MAX_ANSWER_BYTES = 64 * 1024 * 1024;

/** The names that may stand in a response header; any others are the caller's invention. */
const REASONING_FIELDS = new Set(['max_tokens', 'exclude', 'enabled', 'summary']);

/** Where a server of the chat dialect is, and what is particular about it. */
export interface ChatServer extends ChatServerTraits {
  chatUrl(upstreamModel: string): URL;
  /** Answers GET cheaply, with the key checked. */
  modelsUrl: URL;
  /** What shows who calls. */
  authorization: Record<string, string>;
  /** Never shown, even where the server repeats it. */
  apiKey: string | undefined;
  outputLimitField: OutputLimitField;
  /** Models that refuse to be told how much to reason; none unless told. */
  neverReasons?: RegExp | undefined;
}

/** Speaks the chat completions dialect with a server, for callers of every dialect. */
export class ChatClient implements Upstream {
  private readonly headers: Record<string, string>;
  private readonly streamHeaders: Record<string, string>;

  constructor(
    private readonly server: ChatServer,
    private readonly transport: HttpTransport,
  ) {
    this.headers = {
      'content-type': 'application/json',
      'user-agent': 'model-gateway',
      accept: 'application/json',
      ...server.authorization,
    };
    this.streamHeaders = { ...this.headers, accept: 'text/event-stream' };
  }

  /** No model reasons before a turn that it goes on with. */
  continuesPrefill({ prompt }: CanonicalRequest): boolean {
    return this.server.prefill !== undefined && prompt().reasoning === undefined;
  }

  /** Of a chat caller's `reasoning` only the effort has a counterpart; all else that is known is passed on. */
  droppedParams(request: CanonicalRequest, route: DroppingRoute): readonly string[] {
    if (request.dialect !== 'chat') return fieldsChatLacks(request, this.takesEffort(route));
    // By its bytes, as this is asked when the answer has begun and the body may be forgotten.
    const { body } = request;
    const unknown = this.server.knownFieldsOnly
      ? nameUnknown(body, CHAT_FIELDS, CHAT_GATEWAY_FIELDS)
      : [];
    if (!body.members.some(({ key }) => key === 'reasoning')) return unknown;
    const { reasoning } = body.value;
    if (!isJsonObject(reasoning)) return unknown;
    const dropped = Object.keys(reasoning)
      .filter((key) => key !== 'effort' && reasoning[key] != null)
      .map((key) => (REASONING_FIELDS.has(key) ? `reasoning.${key}` : 'reasoning'));
    return [...new Set(dropped), ...unknown];
  }

  generate(call: UpstreamCall): AsyncIterable<CanonicalEvent> {
    const { dialect, webSearch } = call.request;
    const describe = (failure: unknown): unknown => {
      const told = dialect === 'chat' ? failure : nameCallerParam(failure, dialect);
      return redactKey(told, this.server.apiKey);
    };
    const answer = new VendorAnswer(() => this.ask(call, describe), describe);
    return dialect === 'chat' && webSearch ? withSearches(answer, webSearch.most) : answer;
  }

  async probe(call: ProbeCall): Promise<number | undefined> {
    const { limits, signal } = call;
    const response = await this.transport.call({
      method: 'GET',
      url: this.server.modelsUrl,
      headers: this.headers,
      limits,
      signal,
    });
    if (response.status !== 200) {
      const error = await readFailedAnswer(response, classifyChatError);
      throw redactKey(error, this.server.apiKey);
    }
    return listedModels(response, call, 'data');
  }

  private async ask(
    call: UpstreamCall,
    describe: (failure: unknown) => unknown,
  ): Promise<AnswerEvents> {
    const { request } = call;
    // Before the vendor is asked: the body may be forgotten then.
    const reader = request.stream ? streamReader(call) : undefined;
    const response = await this.transport.call({
      method: 'POST',
      url: this.server.chatUrl(call.upstreamModel),
      headers: request.stream ? this.streamHeaders : this.headers,
      body: this.encode(call),
      limits: call.limits,
      signal: call.signal,
    });
    if (response.status !== 200) throw await readFailedAnswer(response, classifyChatError);
    if (reader) {
      if (isUnstreamed(response)) throw await readUnstreamed(response, classifyInlineChatError);
      return readEventStream(response, reader, describe);
    }
    const bytes = await response.readAll(MAX_ANSWER_BYTES);
    return isRelayed(request, 'chat')
      ? relayChatAnswer(bytes, call.alias)
      : decodeChatAnswer(bytes);
  }

  private encode(call: UpstreamCall): Buffer {
    const { outputLimitField, prefill } = this.server;
    return call.request.dialect === 'chat'
      ? encodeChatRequest(call, outputLimitField, this.server)
      : encodeChatPrompt(call, outputLimitField, this.takesEffort(call), prefill);
  }

  private takesEffort({ upstreamModel }: DroppingRoute): boolean {
    return this.server.neverReasons?.test(upstreamModel) !== true;
  }
}

/** Models that search do so once for each answer, and their vendors do not count it. */
async function* withSearches(
  answer: AsyncIterable<CanonicalEvent>,
  webSearches: number,
): AsyncGenerator<CanonicalEvent> {
  let isNoted = false;
  for await (const event of answer) {
    if (!isNoted && isContent(event)) {
      isNoted = true;
      yield { type: 'usage', usage: { ...NO_USAGE, webSearches }, isPartial: true };
    }
    if ((event.type === 'usage' || event.type === 'relay') && event.usage) {
      yield { ...event, usage: { ...event.usage, webSearches } };
    } else {
      yield event;
    }
  }
}

function streamReader({ alias, request }: UpstreamCall): EventStreamReader {
  if (!isRelayed(request, 'chat')) return new ChatStreamDecoder();
  const options = request.body.value.stream_options;
  const includeUsage = isJsonObject(options) && options.include_usage === true;
  return new ChatStreamRelay({ alias, includeUsage });
}
