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

/** Where a server of the embeddings dialect is. */
interface EmbeddingsServer {
  embeddingsUrl(upstreamModel: string): URL;
  /** What shows who calls. */
  authorization: Record<string, string>;
  /** Never shown, even where the server repeats it. */
  apiKey: string | undefined;
  /** Whether fields that nobody documents stay here; false unless told. */
  knownFieldsOnly?: boolean | undefined;
  /** Which those are; by default all that are documented. */
  fields?: ReadonlySet<string>;
}

/** In which form vectors come is between the server and the gateway, which reads both. */
const OWN_FIELDS = [...GATEWAY_FIELDS, 'encoding_format'];

/** Speaks the embeddings dialect with a server; bodies are passed on but for the documented edits. */
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
 * The body for a vendor that speaks the caller's own dialect: the received bytes with the model's
 * name exchanged and the gateway's fields taken out, everything else untouched.
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
  // Some SDKs spell "not set" as null, which stricter servers refuse.
  for (const field of ['encoding_format', 'dimensions', 'user']) {
    if (value[field] === null) edits.set(field, undefined);
  }
  return spliceMembers(bytes, members, edits);
}
