import type { CanonicalRequest, Dialect } from '../../canonical/canonical-request.js';
import type { ClassifyError } from '../dialects/failed-answer.js';
import type { AnswerEvents } from '../dialects/vendor-answer.js';
import type { UpstreamResponse } from '../transport/upstream-response.js';
import type { DroppingRoute, UpstreamCall } from '../upstream.js';
import {
  classifyGenerateContentError,
  classifyInlineGenerateContentError,
} from '../dialects/generate-content/classify-generate-content-error.js';
import { decodeGenerateContentAnswer } from '../dialects/generate-content/generate-content-stream-decoder.js';
import { droppedFields } from '../dialects/generate-content/dropped-fields.js';
import { encodeGenerateContentRequest } from '../dialects/generate-content/encode-generate-content-request.js';
import { GenerateContentStreamDecoder } from '../dialects/generate-content/generate-content-stream-decoder.js';
import { isUnstreamed, readEventStream, readUnstreamed } from '../dialects/read-event-stream.js';
import { geminiTraits } from './gemini-traits.js';
import {
  CLAUDE_SIGNATURE_ISSUER,
  claudeModelTraits,
  claudeVendorOf,
} from '../anthropic/claude-model-traits.js';
import { BETA_HEADER, INTERLEAVED, platformBetas } from '../anthropic/platform-betas.js';
import { classifyMessagesError } from '../dialects/messages/classify-messages-error.js';
import { encodeMessagesCall } from '../dialects/messages/encode-messages-call.js';
import { droppedFromMessages } from '../dialects/messages/encode-messages-request.js';
import { continuesTurn } from '../dialects/messages/messages-vendor.js';
import { readMessagesResponse } from '../dialects/messages/read-messages-response.js';
import { isJsonObject } from '../../platform/http/json-body.js';

/** Vertex has the model in the URL and the API version in the body. */
const ENVELOPE = {
  model: undefined,
  adding: { anthropic_version: JSON.stringify('vertex-2023-10-16') },
};

/** Supported betas of these models, by Anthropic's names. */
const BETAS: ReadonlyMap<string, string> = new Map([
  [INTERLEAVED, INTERLEAVED],
  ['context-management-2025-06-27', 'context-management-2025-06-27'],
  ['advanced-tool-use-2025-11-20', 'tool-search-tool-2025-10-19'],
  ['tool-search-tool-2025-10-19', 'tool-search-tool-2025-10-19'],
  ['computer-use-2025-01-24', 'computer-use-2025-01-24'],
  ['computer-use-2025-11-24', 'computer-use-2025-11-24'],
  ['web-search-2025-03-05', 'web-search-2025-03-05'],
]);

/** Anthropic's models on Vertex, which also use the messages dialect there. */
export const ANTHROPIC_PUBLISHER: VertexPublisher = {
  name: 'anthropic',
  method: (stream) => (stream ? 'streamRawPredict' : 'rawPredict'),
  relays: (dialect) => dialect === 'messages',
  continuesPrefill: (request, upstreamModel) =>
    continuesTurn(request, claudeModelTraits(upstreamModel)),
  droppedParams(request, route) {
    if (request.dialect === 'messages') return [];
    const { maxOutputTokens } = route;
    return droppedFromMessages({ request, maxOutputTokens }, claudeVendorOf(route));
  },
  prepare(call) {
    const { body, jsonTool } = encodeMessagesCall(call, claudeVendorOf(call), ENVELOPE);
    const options = { signatureIssuer: CLAUDE_SIGNATURE_ISSUER, jsonTool };
    const betas = platformBetas(call, BETAS);
    return {
      body,
      ...(betas.length > 0 && { headers: { [BETA_HEADER]: betas.join(',') } }),
      read: (response, describe) => readMessagesResponse(response, call, options, describe),
    };
  },
  // Errors of Vertex itself are in Google's format, those of the models in their own.
  classifyError: (status, headers, body) =>
    isMessagesError(body)
      ? classifyMessagesError(status, headers, body)
      : classifyGenerateContentError(status, headers, body),
};

const MAX_ANSWER_BYTES = 64 * 1024 * 1024;

/** Google's own models on Vertex: Gemini. */
export const GOOGLE_PUBLISHER: VertexPublisher = {
  name: 'google',
  method: (stream) => (stream ? 'streamGenerateContent?alt=sse' : 'generateContent'),
  relays: () => false,
  continuesPrefill: () => false,
  droppedParams: (request, { upstreamModel }) =>
    droppedFields(request, geminiTraits(upstreamModel)),
  prepare: ({ request, upstreamModel, ownOutputLimit }) => ({
    body: encodeGenerateContentRequest(request, geminiTraits(upstreamModel), ownOutputLimit),
    async read(response, describe) {
      if (!request.stream) {
        return decodeGenerateContentAnswer(await response.readAll(MAX_ANSWER_BYTES));
      }
      if (isUnstreamed(response)) {
        throw await readUnstreamed(response, classifyInlineGenerateContentError);
      }
      return readEventStream(response, new GenerateContentStreamDecoder(), describe);
    },
  }),
  classifyError: classifyGenerateContentError,
};

/** A publisher of models on Vertex, and the dialect of its models. */
export interface VertexPublisher {
  /** The path segment after `publishers/`. */
  readonly name: string;
  /** The path suffix after the model and its colon, including the query. */
  method(stream: boolean): string;
  /** True when requests of this dialect are relayed rather than translated. */
  relays(dialect: Dialect): boolean;
  /** As `Upstream.continuesPrefill`. */
  continuesPrefill(request: CanonicalRequest, upstreamModel: string): boolean;
  droppedParams(request: CanonicalRequest, route: DroppingRoute): readonly string[];
  /** @throws UpstreamError `caller` or `unsupported` for a request that it cannot encode */
  prepare(call: UpstreamCall): PreparedCall;
  readonly classifyError: ClassifyError;
}

/** A call in its publisher's dialect, with the reader for its answer. */
interface PreparedCall {
  body: Buffer;
  /** Model-specific headers besides the common ones. */
  headers?: Readonly<Record<string, string>>;
  /**
   * Reads the events of an answer with status 200. `describe` maps a stream's failure to the error to
   * throw. @throws UpstreamError for an invalid answer
   */
  read: (
    response: UpstreamResponse,
    describe: (failure: unknown) => unknown,
  ) => Promise<AnswerEvents>;
}

function isMessagesError(body: unknown): boolean {
  return isJsonObject(body) && body.type === 'error';
}
