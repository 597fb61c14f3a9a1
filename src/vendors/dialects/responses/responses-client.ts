import type { CanonicalRequest } from '../../../canonical/canonical-request.js';
import { isJsonObject } from '../../../platform/http/json-body.js';
import type { HttpTransport } from '../../transport/http-transport.js';
import type { UpstreamResponse } from '../../transport/upstream-response.js';
import type { UpstreamError } from '../../upstream-error.js';
import type { Upstream, UpstreamCall } from '../../upstream.js';
import { classifyChatError } from '../chat/classify-chat-error.js';
import { readEventStream, isUnstreamed, readUnstreamed } from '../read-event-stream.js';
import { readFailedAnswer, hideOwnKey } from '../failed-answer.js';
import { VendorAnswer, type AnswerEvents } from '../vendor-answer.js';
import { encodeResponsesRequest, fieldsResponsesLacks } from './encode-responses-request.js';
import { classifyResponseError, relayResponsesAnswer } from './read-response.js';
import { responseEditsOf } from './response-edits.js';
import { ResponsesStreamRelay } from './responses-stream-relay.js';

const MAX_ANSWER_BYTES = 64 * 1024 * 1024;

/** A server without this API is asked again after so long, as it may have been updated. */
const MISSING_FOR_MS = 600_000;

/** Where a server of the Responses dialect is. */
export interface ResponsesServer {
  responsesUrl: URL;
  /** What shows who calls. */
  authorization: Record<string, string>;
  /** Never shown, even where the server repeats it. */
  apiKey: string | undefined;
  /** Whether fields that nobody documents stay here; false unless told. */
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

  /** True once the server has said that it knows no such address. */
  get isMissing(): boolean {
    return performance.now() < this.missingUntilMs;
  }

  droppedParams(request: CanonicalRequest): readonly string[] {
    return fieldsResponsesLacks(request, this.server.knownFieldsOnly);
  }

  generate(call: UpstreamCall): VendorAnswer {
    const describe = (failure: unknown): unknown => hideOwnKey(failure, this.server.apiKey);
    return new VendorAnswer(() => this.ask(call, describe), describe);
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
    return request.stream
      ? readEventStream(response, new ResponsesStreamRelay(edits), describe)
      : relayResponsesAnswer(await response.readAll(MAX_ANSWER_BYTES), edits);
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

/** Whether it is the address that a server does not know, rather than something that the body names. */
function isUnknownAddress(status: number, body: unknown): boolean {
  if (status !== 404 && status !== 405) return false;
  const error = isJsonObject(body) && isJsonObject(body.error) ? body.error : {};
  return error.param == null && typeof error.code !== 'string';
}
