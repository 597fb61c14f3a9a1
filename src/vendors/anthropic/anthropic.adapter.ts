import { listedModelIds } from '../dialects/listed-models.js';
import type { CanonicalRequest, Dialect } from '../../canonical/canonical-request.js';
import type { ProviderConfig } from '../../platform/config/app-config.js';
import { classifyMessagesError } from '../dialects/messages/classify-messages-error.js';
import {
  encodeMessagesCall,
  encodeMessagesCount,
} from '../dialects/messages/encode-messages-call.js';
import { droppedFromMessages } from '../dialects/messages/encode-messages-request.js';
import { continuesTurn } from '../dialects/messages/messages-vendor.js';
import { readMessagesResponse } from '../dialects/messages/read-messages-response.js';
import { nameCallerParam } from '../dialects/name-caller-param.js';
import { readFailedAnswer, redactKey } from '../dialects/failed-answer.js';
import { VendorAnswer } from '../dialects/vendor-answer.js';
import type { HttpTransport } from '../transport/http-transport.js';
import type { UpstreamResponse } from '../transport/upstream-response.js';
import { unreadable } from '../upstream-error.js';
import type { DroppingRoute, ProbeCall, Probed, Upstream, UpstreamCall } from '../upstream.js';
import {
  CLAUDE_SIGNATURE_ISSUER,
  claudeModelTraits,
  claudeVendorOf,
} from './claude-model-traits.js';
import { parseAnswerJson, objectOf, isCount } from '../dialects/answer-json.js';

/** The latest API version that supports `temperature`, `top_p` and `top_k`. */
const API_VERSION = '2023-06-01';

const MAX_COUNT_BYTES = 64 * 1024;

/** Anthropic, and every server with its messages API. */
export class AnthropicAdapter implements Upstream {
  readonly passesVendorHeaders = true;
  readonly signsReasoning = true;
  private readonly messagesUrl: URL;
  private readonly countUrl: URL;
  private readonly modelsUrl: URL;
  private readonly headers: Record<string, string>;

  constructor(
    private readonly provider: ProviderConfig,
    private readonly transport: HttpTransport,
  ) {
    this.messagesUrl = new URL(`${provider.baseUrl}/v1/messages`);
    this.countUrl = new URL(`${provider.baseUrl}/v1/messages/count_tokens`);
    this.modelsUrl = new URL(`${provider.baseUrl}/v1/models?limit=`);
    this.headers = {
      'content-type': 'application/json',
      'user-agent': 'model-gateway',
      'anthropic-version': API_VERSION,
      ...(provider.apiKey !== undefined && { 'x-api-key': provider.apiKey }),
    };
  }

  runsWebSearch(dialect: Dialect): boolean {
    return dialect === 'messages';
  }

  passesTier(dialect: Dialect): boolean {
    return dialect === 'messages';
  }

  continuesPrefill(request: CanonicalRequest, upstreamModel: string): boolean {
    return continuesTurn(request, claudeModelTraits(upstreamModel));
  }

  /** Returns nothing for callers of the same dialect. */
  droppedParams(request: CanonicalRequest, route: DroppingRoute): readonly string[] {
    if (request.dialect === 'messages') return [];
    const { maxOutputTokens } = route;
    return droppedFromMessages({ request, maxOutputTokens }, claudeVendorOf(route));
  }

  generate(call: UpstreamCall): VendorAnswer {
    const describe = (failure: unknown): unknown => this.describe(failure, call);
    return new VendorAnswer(async () => {
      const { body, jsonTool } = encodeMessagesCall(call, claudeVendorOf(call), {
        model: call.upstreamModel,
      });
      const response = await this.post(this.messagesUrl, body, call);
      const options = { signatureIssuer: CLAUDE_SIGNATURE_ISSUER, jsonTool };
      return readMessagesResponse(response, call, options, describe);
    }, describe);
  }

  async countTokens(call: UpstreamCall): Promise<number> {
    try {
      const body = encodeMessagesCount(call, claudeVendorOf(call));
      const response = await this.post(this.countUrl, body, call, 'application/json');
      return readCount(await response.readAll(MAX_COUNT_BYTES));
    } catch (error) {
      throw this.describe(error, call);
    }
  }

  async probe(call: ProbeCall): Promise<Probed> {
    const { limits, signal } = call;
    const response = await this.transport.call({
      method: 'GET',
      // One model is enough to see that it answers.
      url: new URL(this.modelsUrl.href + (call.readsAnswer === true ? 1_000 : 1)),
      headers: this.headers,
      limits,
      signal,
    });
    if (response.status !== 200) {
      const error = await readFailedAnswer(response, classifyMessagesError);
      throw redactKey(error, this.provider.apiKey);
    }
    return listedModelIds(response, call, 'data');
  }

  /** Maps an error to the caller's field names, with the key redacted. */
  private describe(error: unknown, { request: { dialect } }: UpstreamCall): unknown {
    const described = dialect === 'messages' ? error : nameCallerParam(error, dialect);
    return redactKey(described, this.provider.apiKey);
  }

  /** @throws UpstreamError for any status other than 200 */
  private async post(
    url: URL,
    body: Buffer,
    { request, limits, signal, vendorHeaders }: UpstreamCall,
    accept = request.stream ? 'text/event-stream' : 'application/json',
  ): Promise<UpstreamResponse> {
    const headers = { ...this.headers, ...vendorHeaders, accept };
    const response = await this.transport.call({
      method: 'POST',
      url,
      headers,
      body,
      limits,
      signal,
    });
    if (response.status === 200) return response;
    throw await readFailedAnswer(response, classifyMessagesError);
  }
}

/** @throws UpstreamError `unreadable` for anything but `{"input_tokens": <count>}` */
function readCount(bytes: Buffer): number {
  const answer = parseAnswerJson(bytes.toString('utf8'), 'a count of tokens', 200);
  const { input_tokens: count } = objectOf(answer);
  if (isCount(count)) return count;
  throw unreadable('no count of tokens', 200);
}
