import { listedModelIds, listedModels } from '../listed-models.js';
import { isContent, type CanonicalEvent } from '../../../canonical/canonical-event.js';
import { isRelayed, type CanonicalRequest } from '../../../canonical/canonical-request.js';
import { NO_USAGE } from '../../../canonical/usage.js';
import { nameSent } from '../../../canonical/prompt-field-table.js';
import { isJsonObject, type JsonObject } from '../../../platform/http/json-body.js';
import type { HttpTransport } from '../../transport/http-transport.js';
import type { DroppingRoute, ProbeCall, Probed, Upstream, UpstreamCall } from '../../upstream.js';
import { CHAT_FIELDS, nameUnknown } from '../known-fields.js';
import { nameCallerParam } from '../name-caller-param.js';
import {
  readEventStream,
  type EventStreamReader,
  isUnstreamed,
  readUnstreamed,
} from '../read-event-stream.js';
import {
  readErrorBody,
  readFailedAnswer,
  redactKey,
  type ClassifyError,
} from '../failed-answer.js';
import { VendorAnswer, type AnswerEvents } from '../vendor-answer.js';
import { ChatStreamDecoder } from './chat-stream-decoder.js';
import { ChatStreamRelay } from './chat-stream-relay.js';
import { readResetSeconds, type OutputLimitField, type QuirkTable } from './chat-quirks.js';
import { classifyChatError, classifyInlineChatError } from './classify-chat-error.js';
import { decodeChatAnswer } from './decode-chat-answer.js';
import {
  CHAT_GATEWAY_FIELDS,
  encodeChatRequest,
  encodeChatPrompt,
  fieldsChatLacks,
  takesPrediction,
  type ChatServerTraits,
} from './encode-chat-request.js';
import { relayChatAnswer } from './relay-chat-answer.js';
import { splitThinking, ThinkTagReader } from './think-tags.js';

const MAX_ANSWER_BYTES = 64 * 1024 * 1024;

/** Statuses of a server that is up but has no model list. */
const NOTHING_THERE: ReadonlySet<number> = new Set([404, 405]);

/** Names that may appear in a response header; any others are invented by the caller. */
const REASONING_FIELDS = new Set(['max_tokens', 'exclude', 'enabled', 'summary']);

/** Address and traits of a server of the chat dialect. */
export interface ChatServer extends ChatServerTraits {
  chatUrl(upstreamModel: string): URL;
  /** The URL for continuing an assistant message, if different. */
  prefillUrl?: URL | undefined;
  /** Answers GET cheaply and checks the key. */
  modelsUrl: URL;
  /** True when routes use other model names than that list. */
  namesAreOwn?: true;
  /** Authentication headers. */
  authorization: Record<string, string>;
  /** Redacted even when the server echoes it. */
  apiKey: string | undefined;
  outputLimitField: OutputLimitField;
  /** Models that reject a reasoning effort; none by default. */
  neverReasons?: RegExp | undefined;
}

/** Caller fields that a server with quirks may not support. */
const QUIRKY_FIELDS = new Set(['tool_choice', 'response_format', 'reasoning_effort']);

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

  /** No model reasons before a message that it continues. */
  continuesPrefill({ prompt }: CanonicalRequest): boolean {
    return this.server.prefill !== undefined && prompt().reasoning === undefined;
  }

  /** Only the effort of a chat caller's `reasoning` has a counterpart; other known fields are passed on. */
  droppedParams(request: CanonicalRequest, route: DroppingRoute): readonly string[] {
    const { outputLimitField, quirks } = this.server;
    if (request.dialect !== 'chat') {
      return fieldsChatLacks(request, this.takesEffort(route), quirks, route.upstreamModel);
    }
    // Read from the bytes: by the time this is called, the parsed body may have been released.
    const { body } = request;
    const unknown = this.server.knownFieldsOnly
      ? nameUnknown(body, quirks?.fields ?? CHAT_FIELDS, CHAT_GATEWAY_FIELDS)
      : [];
    if (quirks) unknown.push(...lostOf(body, quirks, route.upstreamModel));
    const has = (field: string): boolean => body.members.some(({ key }) => key === field);
    if (has('prediction') && !takesPrediction(outputLimitField, route.ownOutputLimit)) {
      unknown.push('prediction');
    }
    if (!has('reasoning')) return unknown;
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
      const described = dialect === 'chat' ? failure : nameCallerParam(failure, dialect);
      return redactKey(described, this.server.apiKey);
    };
    const answer = new VendorAnswer(() => this.ask(call, describe), describe);
    return dialect === 'chat' && webSearch ? withSearches(answer, webSearch.most) : answer;
  }

  async probe(call: ProbeCall): Promise<Probed> {
    const { limits, signal } = call;
    const response = await this.transport.call({
      method: 'GET',
      url: this.server.modelsUrl,
      headers: this.headers,
      limits,
      signal,
    });
    const listsModels = this.server.quirks?.quirks.listsModels !== false;
    if (response.status !== 200) {
      const error = await readFailedAnswer(response, this.classify);
      if (!listsModels && NOTHING_THERE.has(response.status)) return undefined;
      throw redactKey(error, this.server.apiKey);
    }
    if (!listsModels) return listedModels(response, call, undefined);
    return this.server.namesAreOwn === true
      ? listedModels(response, call, 'data')
      : listedModelIds(response, call, 'data');
  }

  private async ask(
    call: UpstreamCall,
    describe: (failure: unknown) => unknown,
  ): Promise<AnswerEvents> {
    const { request } = call;
    // Before calling the vendor, because the body may be released then.
    const hasTags = this.server.quirks?.quirks.thinkTags === true;
    const reader = request.stream ? streamReader(call, hasTags) : undefined;
    const response = await this.transport.call({
      method: 'POST',
      url:
        (request.isPrefilled && this.server.prefillUrl) || this.server.chatUrl(call.upstreamModel),
      headers: request.stream ? this.streamHeaders : this.headers,
      body: this.encode(call),
      limits: call.limits,
      signal: call.signal,
    });
    if (response.status !== 200) throw await readFailedAnswer(response, this.classify);
    if (reader) {
      if (isUnstreamed(response)) throw await readUnstreamed(response, classifyInlineChatError);
      return readEventStream(response, reader, describe);
    }
    const received = await response.readAll(MAX_ANSWER_BYTES);
    const bytes = hasTags ? splitThinking(received) : received;
    return isRelayed(request, 'chat')
      ? relayChatAnswer(bytes, call.alias)
      : decodeChatAnswer(bytes);
  }

  private encode(call: UpstreamCall): Buffer {
    const { outputLimitField, prefill, quirks } = this.server;
    return call.request.dialect === 'chat'
      ? encodeChatRequest(call, outputLimitField, this.server)
      : encodeChatPrompt(call, outputLimitField, this.takesEffort(call), prefill, quirks);
  }

  private takesEffort({ upstreamModel }: Pick<DroppingRoute, 'upstreamModel'>): boolean {
    const { neverReasons, quirks } = this.server;
    return (
      neverReasons?.test(upstreamModel) !== true && quirks?.takesEffort(upstreamModel) !== false
    );
  }

  /** Classifies like the dialect, except for the server's own codes and headers. */
  private readonly classify: ClassifyError = (status, headers, body) => {
    const { errorCodes, resetHeaders } = this.server.quirks?.quirks ?? {};
    const error = classifyChatError(status, headers, body);
    const { code, type } = readErrorBody(body);
    const failure = errorCodes?.[String(code)] ?? errorCodes?.[String(type)];
    const isLate =
      (failure ?? error.failure) === 'rate_limited' && error.retryAfterMs === undefined;
    const resetSeconds =
      isLate && resetHeaders ? readResetSeconds(headers, resetHeaders) : undefined;
    if (failure === undefined && resetSeconds === undefined) return error;
    const effectiveHeaders =
      resetSeconds === undefined ? headers : { 'retry-after': String(resetSeconds) };
    return classifyChatError(status, effectiveHeaders, body, failure);
  };
}

/** Returns the body fields that a server with quirks does not support, read from the bytes. */
function lostOf(
  { bytes, members }: CanonicalRequest['body'],
  quirks: QuirkTable,
  upstreamModel: string,
): string[] {
  const said: JsonObject = {};
  for (const { key, valueStart, valueEnd } of members) {
    if (!QUIRKY_FIELDS.has(key) || !quirks.fields.has(key)) continue;
    said[key] = JSON.parse(bytes.toString('utf8', valueStart, valueEnd));
  }
  return quirks.lost(said, upstreamModel).flatMap((field) => nameSent('chat', field) ?? []);
}

/** Adds the searches of models that search once per answer without their vendor counting it. */
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

function streamReader(call: UpstreamCall, hasTags: boolean): EventStreamReader {
  const reader = plainReader(call);
  return hasTags ? new ThinkTagReader(reader, call.request.choices) : reader;
}

function plainReader({ alias, request }: UpstreamCall): EventStreamReader {
  if (!isRelayed(request, 'chat')) return new ChatStreamDecoder();
  const options = request.body.value.stream_options;
  const includeUsage = isJsonObject(options) && options.include_usage === true;
  return new ChatStreamRelay({ alias, includeUsage });
}
