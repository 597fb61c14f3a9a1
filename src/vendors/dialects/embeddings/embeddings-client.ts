import type { EmbeddingRequest, EmbeddingVectors } from '../../../canonical/work-request.js';
import type { WorkEvent } from '../../../canonical/canonical-event.js';
import type { HttpTransport } from '../../transport/http-transport.js';
import type { UpstreamWork, WorkCall } from '../../upstream.js';
import { classifyChatError } from '../chat/classify-chat-error.js';
import { GATEWAY_FIELDS } from '../../../canonical/routing-fields.js';
import { EMBEDDINGS_FIELDS, nameUnknown, dropUnknown } from '../known-fields.js';
import { readFailedAnswer, redactKey } from '../failed-answer.js';
import { countItems, blameInput } from './embedding-items.js';
import { maxBytesOfVectors, readEmbeddingsAnswer } from './read-embeddings-answer.js';
import { spliceMembers } from '../../../platform/http/top-level-members.js';

/** Address and credentials of a server of the embeddings dialect. */
interface EmbeddingsServer {
  embeddingsUrl(upstreamModel: string): URL;
  /** Authentication headers. */
  authorization: Record<string, string>;
  /** Redacted even when the server echoes it. */
  apiKey: string | undefined;
  /** Drops undocumented fields; false by default. */
  knownFieldsOnly?: boolean | undefined;
  /** The documented fields; all of OpenAI's by default. */
  fields?: ReadonlySet<string>;
}

/** The gateway negotiates the vector encoding with the server and reads both. */
const OWN_FIELDS = [...GATEWAY_FIELDS, 'encoding_format'];

/** Speaks the embeddings dialect with a server; passes bodies on except for the documented edits. */
export class EmbeddingsClient {
  constructor(
    private readonly server: EmbeddingsServer,
    private readonly transport: HttpTransport,
  ) {}

  embed(call: WorkCall<EmbeddingRequest>): UpstreamWork<EmbeddingVectors> {
    const droppedParams = this.server.knownFieldsOnly
      ? nameUnknown(call.request.body, this.server.fields ?? EMBEDDINGS_FIELDS, OWN_FIELDS)
      : [];
    return { droppedParams, events: this.call(call) };
  }

  private async *call({
    request,
    upstreamModel,
    limits,
    signal,
  }: WorkCall<EmbeddingRequest>): AsyncGenerator<WorkEvent<EmbeddingVectors>> {
    const { knownFieldsOnly, fields } = this.server;
    try {
      const response = await this.transport.call({
        method: 'POST',
        url: this.server.embeddingsUrl(upstreamModel),
        headers: {
          'content-type': 'application/json',
          'user-agent': 'model-gateway',
          accept: 'application/json',
          ...this.server.authorization,
        },
        body: encodeEmbeddingsRequest(request, upstreamModel, knownFieldsOnly, fields),
        limits,
        signal,
      });
      if (response.status !== 200) throw await readFailedAnswer(response, classifyChatError);
      const count = countItems(request.input);
      const bytes = await response.readAll(maxBytesOfVectors(count));
      const { vectors, usage } = readEmbeddingsAnswer(bytes, count);
      if (usage) yield { type: 'usage', usage };
      yield { type: 'output', output: vectors };
    } catch (error) {
      throw blameInput(redactKey(error, this.server.apiKey));
    }
  }
}

/**
 * Encodes the body for a vendor of the caller's own dialect: the received bytes with the model replaced
 * and the gateway's fields removed, everything else untouched.
 */
export function encodeEmbeddingsRequest(
  request: EmbeddingRequest,
  upstreamModel: string,
  knownFieldsOnly = false,
  known = EMBEDDINGS_FIELDS,
): Buffer {
  const { bytes, members, value } = request.body;
  const edits = new Map<string, string | undefined>([['model', JSON.stringify(upstreamModel)]]);
  if (knownFieldsOnly) dropUnknown(value, known, edits);
  for (const field of GATEWAY_FIELDS) if (field in value) edits.set(field, undefined);
  // Some SDKs send null for "not set", which stricter servers reject.
  for (const field of ['encoding_format', 'dimensions', 'user']) {
    if (value[field] === null) edits.set(field, undefined);
  }
  return spliceMembers(bytes, members, edits);
}
