import type { EmbeddingRequest, EmbeddingVectors } from '../../../canonical/work-request.js';
import type { WorkEvent } from '../../../canonical/canonical-event.js';
import type { HttpTransport } from '../../transport/http-transport.js';
import type { UpstreamWork, WorkCall } from '../../upstream.js';
import { classifyChatError } from '../chat/classify-chat-error.js';
import { hideOwnKey } from '../hide-own-key.js';
import { EMBEDDINGS_FIELDS, nameUnknown } from '../known-fields.js';
import { readFailedAnswer } from '../read-failed-answer.js';
import { blameInput } from './blame-input.js';
import { countItems } from './count-items.js';
import { EMBEDDINGS_GATEWAY_FIELDS, encodeEmbeddingsRequest } from './encode-embeddings-request.js';
import { readEmbeddingsAnswer } from './read-embeddings-answer.js';

/** 2,048 vectors of 3,072 numbers, spelled out. */
const MAX_ANSWER_BYTES = 192 * 1024 * 1024;

/** Where a server of the embeddings dialect is. */
export interface EmbeddingsServer {
  embeddingsUrl(upstreamModel: string): URL;
  /** What shows who calls. */
  authorization: Record<string, string>;
  /** Never shown, even where the server repeats it. */
  apiKey: string | undefined;
  /** Whether fields that nobody documents stay here; false unless told. */
  knownFieldsOnly?: boolean | undefined;
}

/** Speaks the embeddings dialect with a server; bodies are passed on but for the documented edits. */
export class EmbeddingsClient {
  constructor(
    private readonly server: EmbeddingsServer,
    private readonly transport: HttpTransport,
  ) {}

  embed(call: WorkCall<EmbeddingRequest>): UpstreamWork<EmbeddingVectors> {
    const droppedParams = this.server.knownFieldsOnly
      ? nameUnknown(call.request.body, EMBEDDINGS_FIELDS, EMBEDDINGS_GATEWAY_FIELDS)
      : [];
    return { droppedParams, events: this.call(call) };
  }

  private async *call({
    request,
    upstreamModel,
    limits,
    signal,
  }: WorkCall<EmbeddingRequest>): AsyncGenerator<WorkEvent<EmbeddingVectors>> {
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
        body: encodeEmbeddingsRequest(request, upstreamModel, this.server.knownFieldsOnly),
        limits,
        signal,
      });
      if (response.status !== 200) throw await readFailedAnswer(response, classifyChatError);
      const bytes = await response.readAll(MAX_ANSWER_BYTES);
      const { vectors, usage } = readEmbeddingsAnswer(bytes, countItems(request.input));
      if (usage) yield { type: 'usage', usage };
      yield { type: 'output', output: vectors };
    } catch (error) {
      throw blameInput(hideOwnKey(error, this.server.apiKey));
    }
  }
}
