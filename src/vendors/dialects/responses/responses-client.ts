import type { CanonicalRequest } from '../../../canonical/canonical-request.js';
import type { HttpTransport } from '../../transport/http-transport.js';
import type { UpstreamResponse } from '../../transport/upstream-response.js';
import { UpstreamError, unreadable } from '../../upstream-error.js';
import type { Upstream, UpstreamCall } from '../../upstream.js';
import { classifyChatError } from '../chat/classify-chat-error.js';
import { readEventStream, isUnstreamed, readUnstreamed } from '../read-event-stream.js';
import { readFailedAnswer, redactKey } from '../failed-answer.js';
import { VendorAnswer, type AnswerEvents } from '../vendor-answer.js';
import {
  encodeResponsesCount,
  encodeResponsesRequest,
  fieldsResponsesLacks,
} from './encode-responses-request.js';
import { classifyResponseError, relayResponsesAnswer } from './read-response.js';
import { relayDefaults } from './response-defaults.js';
import { responseEditsOf } from './response-edits.js';
import { ResponsesStreamRelay } from './responses-stream-relay.js';
import { isCount, objectOf, parseAnswerObject } from '../answer-json.js';

const MAX_ANSWER_BYTES = 64 * 1024 * 1024;
const MAX_COUNT_BYTES = 64 * 1024;

/** Statuses of a server without this endpoint. */
export const UNKNOWN_ADDRESS: ReadonlySet<number | undefined> = new Set([404, 405]);

/** Time until a server without this API is tried again, because it may have been updated. */
const MISSING_FOR_MS = 600_000;

/** Address and credentials of a server of the Responses dialect. */
export interface ResponsesServer {
  responsesUrl: URL;
  /** The token counting endpoint. */
  countUrl: URL;
  /** Authentication headers. */
  authorization: Record<string, string>;
  /** Redacted even when the server echoes it. */
  apiKey: string | undefined;
  /** Drops undocumented fields; false by default. */
  knownFieldsOnly?: boolean | undefined;
}

/** Speaks the Responses dialect with a server, for callers of the same dialect. */
export class ResponsesClient implements Pick<Upstream, 'droppedParams' | 'generate'> {
  private readonly headers: Record<string, string>;
  private missingUntilMs = -Infinity;

  constructor(
    private readonly server: ResponsesServer,
    private readonly transport: HttpTransport,
  ) {
    this.headers = {
      'content-type': 'application/json',
      'user-agent': 'model-gateway',
      ...server.authorization,
    };
  }

  /** True once the server has reported that the endpoint does not exist. */
  get isMissing(): boolean {
    return performance.now() < this.missingUntilMs;
  }

  droppedParams(request: CanonicalRequest): readonly string[] {
    return fieldsResponsesLacks(request, this.server.knownFieldsOnly);
  }

  generate(call: UpstreamCall): VendorAnswer {
    const describe = (failure: unknown): unknown => redactKey(failure, this.server.apiKey);
    return new VendorAnswer(() => this.ask(call, describe), describe);
  }

  /** Counts the request's input tokens; undefined when the server does not support it. */
  async countTokens({
    request,
    upstreamModel,
    limits,
    signal,
  }: UpstreamCall): Promise<number | undefined> {
    try {
      const response = await this.transport.call({
        method: 'POST',
        url: this.server.countUrl,
        headers: { ...this.headers, accept: 'application/json' },
        body: encodeResponsesCount(request, upstreamModel),
        limits,
        signal,
      });
      if (response.status !== 200) {
        throw await readFailedAnswer(response, classifyChatError);
      }
      const text = (await response.readAll(MAX_COUNT_BYTES)).toString('utf8');
      const { input_tokens: count } = parseAnswerObject(text, 'a count of tokens');
      if (isCount(count)) return count;
      throw unreadable('no count of tokens', 200);
    } catch (error) {
      // A server without this endpoint has no other way to count.
      if (error instanceof UpstreamError && UNKNOWN_ADDRESS.has(error.status)) return undefined;
      throw redactKey(error, this.server.apiKey);
    }
  }

  private async ask(
    call: UpstreamCall,
    describe: (failure: unknown) => unknown,
  ): Promise<AnswerEvents> {
    const { request } = call;
    const response = await this.transport.call({
      method: 'POST',
      url: this.server.responsesUrl,
      headers: {
        ...this.headers,
        accept: request.stream ? 'text/event-stream' : 'application/json',
      },
      body: encodeResponsesRequest(call, this.server.knownFieldsOnly),
      limits: call.limits,
      signal: call.signal,
    });
    if (response.status !== 200) throw await this.readError(response);
    if (request.stream && isUnstreamed(response)) {
      throw await readUnstreamed(response, ({ error }) => classifyResponseError(error));
    }
    const edits = responseEditsOf(request, call.alias);
    const defaults = relayDefaults(request.body.value);
    return request.stream
      ? readEventStream(response, new ResponsesStreamRelay(edits, defaults), describe)
      : relayResponsesAnswer(await response.readAll(MAX_ANSWER_BYTES), edits, defaults);
  }

  private readError(response: UpstreamResponse): Promise<UpstreamError> {
    return readFailedAnswer(response, (status, headers, body) => {
      if (isUnknownAddress(status, body)) {
        this.missingUntilMs = performance.now() + MISSING_FOR_MS;
      }
      return classifyChatError(status, headers, body);
    });
  }
}

/** Returns whether the endpoint is unknown, rather than something named in the body. */
function isUnknownAddress(status: number, body: unknown): boolean {
  if (status !== 404 && status !== 405) return false;
  const error = objectOf(objectOf(body).error);
  return error.param == null && typeof error.code !== 'string';
}
