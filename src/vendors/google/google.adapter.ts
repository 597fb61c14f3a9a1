import type { WorkEvent } from '../../canonical/canonical-event.js';
import type { CanonicalRequest } from '../../canonical/canonical-request.js';
import type { EmbeddingRequest, EmbeddingVectors } from '../../canonical/work-request.js';
import type { ProviderConfig } from '../../platform/config/app-config.js';
import { listOf, objectOf, parseAnswerObject } from '../dialects/answer-json.js';
import {
  blameInput,
  droppedEmbeddingFields,
  textsOf,
} from '../dialects/embeddings/embedding-items.js';
import { maxBytesOfVectors, readFloats } from '../dialects/embeddings/read-embeddings-answer.js';
import { runBatches } from '../dialects/embeddings/run-batches.js';
import { withTexts } from '../dialects/embeddings/token-texts.js';
import { readFailedAnswer, redactKey } from '../dialects/failed-answer.js';
import { listedModelIds } from '../dialects/listed-models.js';
import { nameCallerParam } from '../dialects/name-caller-param.js';
import { VendorAnswer } from '../dialects/vendor-answer.js';
import type { HttpTransport } from '../transport/http-transport.js';
import { unreadable } from '../upstream-error.js';
import type {
  DroppingRoute,
  ProbeCall,
  Probed,
  Upstream,
  UpstreamCall,
  UpstreamWork,
  WorkCall,
} from '../upstream.js';
import { GOOGLE_PUBLISHER } from '../vertex/vertex-publisher.js';

/** The vendor's limit on texts per call. */
const MAX_TEXTS = 100;

/** Google AI Studio: Gemini models in the same dialect as on Vertex, with an API key instead of projects. */
export class GoogleAdapter implements Upstream {
  readonly signsReasoning = true;
  private readonly baseUrl: string;
  private readonly apiKey: string | undefined;

  constructor(
    { baseUrl, apiKey }: ProviderConfig,
    private readonly transport: HttpTransport,
  ) {
    this.baseUrl = baseUrl;
    this.apiKey = apiKey;
  }

  droppedParams(request: CanonicalRequest, route: DroppingRoute): readonly string[] {
    return GOOGLE_PUBLISHER.droppedParams(request, route);
  }

  generate(call: UpstreamCall): VendorAnswer {
    const { stream, dialect } = call.request;
    const describe = (failure: unknown): unknown =>
      redactKey(nameCallerParam(failure, dialect), this.apiKey);
    return new VendorAnswer(async () => {
      const { body, read } = GOOGLE_PUBLISHER.prepare(call);
      const response = await this.transport.call({
        method: 'POST',
        url: this.urlOf(call.upstreamModel, GOOGLE_PUBLISHER.method(stream)),
        headers: this.headers(stream ? 'text/event-stream' : 'application/json'),
        body,
        limits: call.limits,
        signal: call.signal,
      });
      if (response.status !== 200) {
        throw await readFailedAnswer(response, GOOGLE_PUBLISHER.classifyError);
      }
      return read(response, describe);
    }, describe);
  }

  embed(call: WorkCall<EmbeddingRequest>): UpstreamWork<EmbeddingVectors> {
    return {
      droppedParams: droppedEmbeddingFields(call.request, ['dimensions']),
      events: this.embedBatches(call),
    };
  }

  async probe(call: ProbeCall): Promise<Probed> {
    const response = await this.transport.call({
      method: 'GET',
      url: new URL(`${this.baseUrl}/models?pageSize=1000`),
      headers: this.headers('application/json'),
      limits: call.limits,
      signal: call.signal,
    });
    if (response.status !== 200) {
      const error = await readFailedAnswer(response, GOOGLE_PUBLISHER.classifyError);
      throw redactKey(error, this.apiKey);
    }
    return listedModelIds(response, call, 'models', ({ name }) =>
      String(name).replace(/^models\//, ''),
    );
  }

  /** Emits no usage: the vendor counts no tokens, so the request's estimate is used. */
  private async *embedBatches(
    call: WorkCall<EmbeddingRequest>,
  ): AsyncGenerator<WorkEvent<EmbeddingVectors>> {
    const { upstreamModel } = call;
    try {
      const { input, dimensions } = await withTexts(call.request);
      const batches = encodeBatches(textsOf(input), upstreamModel, dimensions);
      const url = this.urlOf(upstreamModel, 'batchEmbedContents');
      const answers = await runBatches(batches, call, async ({ body, count }, batchCall) => {
        const response = await this.transport.call({
          method: 'POST',
          url,
          headers: this.headers('application/json'),
          body,
          ...batchCall,
        });
        if (response.status !== 200) {
          throw await readFailedAnswer(response, GOOGLE_PUBLISHER.classifyError);
        }
        return readVectors(await response.readAll(maxBytesOfVectors(count)), count);
      });
      yield { type: 'output', output: answers.flat() };
    } catch (error) {
      throw blameInput(redactKey(error, this.apiKey));
    }
  }

  private urlOf(model: string, method: string): URL {
    return new URL(`${this.baseUrl}/models/${encodeURIComponent(model)}:${method}`);
  }

  private headers(accept: string): Record<string, string> {
    return {
      accept,
      'content-type': 'application/json',
      'user-agent': 'model-gateway',
      ...(this.apiKey !== undefined && { 'x-goog-api-key': this.apiKey }),
    };
  }
}

function encodeBatches(
  texts: readonly string[],
  upstreamModel: string,
  dimensions: number | undefined,
): { body: Buffer; count: number }[] {
  const requests = texts.map((text) => ({
    model: `models/${upstreamModel}`,
    content: { parts: [{ text }] },
    ...(dimensions !== undefined && { outputDimensionality: dimensions }),
  }));
  const batches: { body: Buffer; count: number }[] = [];
  for (let at = 0; at < requests.length; at += MAX_TEXTS) {
    const batch = requests.slice(at, at + MAX_TEXTS);
    batches.push({ body: Buffer.from(JSON.stringify({ requests: batch })), count: batch.length });
  }
  return batches;
}

/** @throws UpstreamError `unreadable` for anything but `count` vectors */
function readVectors(bytes: Buffer, count: number): (readonly number[])[] {
  const { embeddings } = parseAnswerObject(bytes.toString('utf8'), 'an answer');
  const vectors = listOf(embeddings).map((one) => readFloats(objectOf(one).values));
  if (vectors.length !== count) throw unreadable(`not the ${count} vectors requested`);
  return vectors;
}
