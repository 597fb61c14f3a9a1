import { listedModels } from '../dialects/listed-models.js';
import type { CanonicalEvent, WorkEvent } from '../../canonical/canonical-event.js';
import type { CanonicalRequest } from '../../canonical/canonical-request.js';
import type { EmbeddingRequest, EmbeddingVectors } from '../../canonical/work-request.js';
import { conversationField } from '../../canonical/prompt-fields.js';
import type { JsonObject } from '../../platform/http/json-body.js';
import type { ProviderConfig } from '../../platform/config/app-config.js';
import { assertEventStream, eventlessFailure } from '../dialects/read-event-stream.js';
import { classifyConverseError } from '../dialects/converse/classify-converse-error.js';
import type { ConverseAnswerOptions } from '../dialects/converse/converse-answer-reader.js';
import { ConverseStreamDecoder } from '../dialects/converse/converse-stream-decoder.js';
import { decodeConverseAnswer } from '../dialects/converse/decode-converse-answer.js';
import {
  droppedByConverse,
  encodeConverseRequest,
} from '../dialects/converse/encode-converse-request.js';
import { blameInput, droppedEmbeddingFields } from '../dialects/embeddings/embedding-items.js';
import { withTexts } from '../dialects/embeddings/token-texts.js';
import { maxBytesOfVectors } from '../dialects/embeddings/read-embeddings-answer.js';
import { runBatches } from '../dialects/embeddings/run-batches.js';
import { fetchPromptMedia } from '../dialects/fetch-prompt-media.js';
import { nameCallerParam } from '../dialects/name-caller-param.js';
import { readFailedAnswer, redactKey } from '../dialects/failed-answer.js';
import type { UpstreamResponse } from '../transport/upstream-response.js';
import { UpstreamError } from '../upstream-error.js';
import type {
  DroppingRoute,
  ProbeCall,
  Upstream,
  UpstreamCall,
  UpstreamWork,
  WorkCall,
} from '../upstream.js';
import type { AdapterTools } from '../vendor.js';
import { INTERLEAVED, platformBetas } from '../anthropic/platform-betas.js';
import { AwsSigner, type SignableRequest } from './aws-signer.js';
import { bedrockTraits } from './bedrock-models.js';
import { encodeCohereBatches, readCohereVectors } from './cohere-embeddings.js';

const MAX_ANSWER_BYTES = 64 * 1024 * 1024;
/** Betas of Claude models that the Converse API supports, under its names. */
const BETAS: ReadonlyMap<string, string> = new Map(
  [INTERLEAVED, 'fine-grained-tool-streaming-2025-05-14'].map((name) => [name, name]),
);
const EVENT_STREAM = 'application/vnd.amazon.eventstream';

/**
 * AWS Bedrock: text through its Converse API, the same for the models of all makers, and embeddings by
 * invoking a model in its maker's own format.
 */
export class BedrockAdapter implements Upstream {
  readonly signsReasoning = true;
  readonly region: string;
  private readonly runtimeUrl: string;
  private readonly probeUrl: URL;
  private readonly signer: AwsSigner;
  private readonly secrets: readonly string[];

  constructor(
    provider: ProviderConfig,
    private readonly tools: Pick<AdapterTools, 'transport' | 'mediaFetcher'>,
  ) {
    const { baseUrl, apiKey: secretAccessKey = '', settings } = provider;
    const { accessKeyId = '', sessionToken, region = 'us-east-1' } = settings;
    this.region = region;
    this.runtimeUrl = baseUrl || `https://bedrock-runtime.${region}.amazonaws.com`;
    const controlUrl = baseUrl || `https://bedrock.${region}.amazonaws.com`;
    this.probeUrl = new URL(`${controlUrl}/foundation-models`);
    this.signer = new AwsSigner({ accessKeyId, secretAccessKey, sessionToken }, region, 'bedrock');
    this.secrets = [secretAccessKey, sessionToken ?? '', accessKeyId];
  }

  droppedParams(request: CanonicalRequest, route: DroppingRoute): readonly string[] {
    return droppedByConverse(request, bedrockTraits(route.upstreamModel));
  }

  async *generate(call: UpstreamCall): AsyncGenerator<CanonicalEvent> {
    try {
      const { request, upstreamModel, maxOutputTokens, limits, signal } = call;
      const traits = bedrockTraits(upstreamModel);
      const param = conversationField(request.dialect);
      const { body, jsonTool } = await encodeConverseRequest(request, {
        traits,
        maxOutputTokens,
        modelFields: betaFields(call),
        fetchMedia: () =>
          fetchPromptMedia(request.prompt(), this.tools.mediaFetcher, { signal, param }),
      });
      const operation = request.stream ? 'converse-stream' : 'converse';
      const response = await this.send(
        {
          method: 'POST',
          url: this.modelUrl(upstreamModel, operation),
          headers: {
            'content-type': 'application/json',
            accept: request.stream ? EVENT_STREAM : 'application/json',
          },
          body: Buffer.from(JSON.stringify(body)),
        },
        { limits, signal },
      );
      const { signatureIssuer, redactedIssuer } = traits;
      const options = { signatureIssuer, redactedIssuer, jsonTool };
      if (request.stream) yield* readStream(response, options);
      else yield* decodeConverseAnswer(await response.readAll(MAX_ANSWER_BYTES), options);
    } catch (error) {
      throw this.withoutSecrets(nameCallerParam(error, call.request.dialect));
    }
  }

  embed(call: WorkCall<EmbeddingRequest>): UpstreamWork<EmbeddingVectors> {
    return {
      droppedParams: droppedEmbeddingFields(call.request, []),
      events: this.embedBatches(call),
    };
  }

  async probe(call: ProbeCall): Promise<number | undefined> {
    try {
      const headers = { accept: 'application/json' };
      const response = await this.send({ method: 'GET', url: this.probeUrl, headers }, call);
      return await listedModels(response, call, 'modelSummaries');
    } catch (error) {
      throw this.withoutSecrets(error);
    }
  }

  /** Emits no `usage` event: the vendor counts no tokens, so the estimate is used. */
  private async *embedBatches(
    call: WorkCall<EmbeddingRequest>,
  ): AsyncGenerator<WorkEvent<EmbeddingVectors>> {
    try {
      const { input } = await withTexts(call.request);
      const batches = encodeCohereBatches(input, call.upstreamModel);
      const url = this.modelUrl(call.upstreamModel, 'invoke');
      const answers = await runBatches(batches, call, async ({ body, count }, batchCall) => {
        const headers = { 'content-type': 'application/json', accept: 'application/json' };
        const response = await this.send({ method: 'POST', url, headers, body }, batchCall);
        return readCohereVectors(await response.readAll(maxBytesOfVectors(count)), count);
      });
      yield { type: 'output', output: answers.flat() };
    } catch (error) {
      throw blameInput(this.withoutSecrets(error));
    }
  }

  /** @throws UpstreamError for anything but status 200 */
  private async send(
    request: SignableRequest,
    { limits, signal }: ProbeCall,
  ): Promise<UpstreamResponse> {
    const headers = await this.signer.sign({
      ...request,
      headers: { ...request.headers, 'user-agent': 'model-gateway' },
    });
    const response = await this.tools.transport.call({ ...request, headers, limits, signal });
    if (response.status !== 200) throw await readFailedAnswer(response, classifyConverseError);
    return response;
  }

  /** Encodes ids: colons, and slashes of ARNs, are part of the name rather than the path. */
  private modelUrl(modelId: string, operation: string): URL {
    const segment = encodeURIComponent(modelId).replace(
      /[!'()*]/g,
      (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
    );
    return new URL(`${this.runtimeUrl}/model/${segment}/${operation}`);
  }

  /** Redacts credentials: callers and the log see vendors' error texts, which may echo them. */
  private withoutSecrets(error: unknown): unknown {
    return this.secrets.reduce(redactKey, error);
  }
}

/** Returns the beta field, which models of other makers reject. */
function betaFields(call: UpstreamCall): JsonObject {
  const betas = call.upstreamModel.includes('claude') ? platformBetas(call, BETAS) : [];
  return betas.length > 0 ? { anthropic_beta: betas } : {};
}

async function* readStream(
  response: UpstreamResponse,
  options: ConverseAnswerOptions,
): AsyncGenerator<CanonicalEvent> {
  assertEventStream(response, EVENT_STREAM);
  const decoder = new ConverseStreamDecoder(options);
  let eventlessBytes = 0;
  try {
    for await (const chunk of response) {
      eventlessBytes += chunk.length;
      for (const event of decoder.push(chunk)) {
        eventlessBytes = 0;
        yield event;
      }
      const failure = eventlessFailure(eventlessBytes);
      if (failure) throw failure;
      if (decoder.isDone) {
        response.drain();
        break;
      }
    }
  } catch (error) {
    if (!(decoder.isWhole && error instanceof UpstreamError)) throw error;
  }
  decoder.end();
}
