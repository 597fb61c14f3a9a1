import { listedModels } from '../dialects/listed-models.js';
import type { CanonicalRequest, Dialect } from '../../canonical/canonical-request.js';
import type {
  MediaRequest,
  EmbeddingRequest,
  EmbeddingVectors,
} from '../../canonical/work-request.js';
import { NO_USAGE } from '../../canonical/usage.js';
import type { WorkEvent } from '../../canonical/canonical-event.js';
import type { ProviderConfig } from '../../platform/config/app-config.js';
import { blameInput, droppedEmbeddingFields } from '../dialects/embeddings/embedding-items.js';
import { withTexts } from '../dialects/embeddings/token-texts.js';
import { maxBytesOfVectors } from '../dialects/embeddings/read-embeddings-answer.js';
import { runBatches } from '../dialects/embeddings/run-batches.js';
import { nameCallerParam } from '../dialects/name-caller-param.js';
import { readFailedAnswer, redactKey } from '../dialects/failed-answer.js';
import { unknownFields } from '../dialects/media/media-fields.js';
import { VendorAnswer } from '../dialects/vendor-answer.js';
import type { MediaProgress } from '../media-work.js';
import type { HttpTransport } from '../transport/http-transport.js';
import type { UpstreamResponse } from '../transport/upstream-response.js';
import { unsupported, type UpstreamError } from '../upstream-error.js';
import type {
  DroppingRoute,
  OperationCall,
  ProbeCall,
  Upstream,
  UpstreamCall,
  UpstreamWork,
  WorkCall,
} from '../upstream.js';
import { accessWithin, tokensOf, type AccessTokens } from './google-access.js';
import {
  fetchDefaultAccess,
  GoogleAccessTokens,
  type GoogleAccess,
} from './google-access-tokens.js';
import { encodeVertexBatches, readVertexPredictions } from './vertex-embeddings.js';
import { MediaAnswer } from '../dialects/media/media-answer.js';
import { MAX_MEDIA_BYTES, MediaMemory } from '../dialects/media/media-memory.js';
import { vertexImageModel } from './vertex-images.js';
import { GOOGLE_PUBLISHER, type VertexPublisher, ANTHROPIC_PUBLISHER } from './vertex-publisher.js';
import {
  encodeVertexVideo,
  readVertexOperation,
  readVertexPoll,
  readVertexSubmission,
  VIDEO_FIELDS,
} from './vertex-videos.js';

/** One image of 50 MB in base64, with its metadata. */
const MAX_IMAGE_BYTES = 70 * 1024 * 1024;
/** A second of video at 100 Mbit/s, in base64. */
const MAX_SECOND_BYTES = 16 * 1024 * 1024;
const MAX_OPERATION_BYTES = 1024 * 1024;

/** Multi-region locations, whose addresses have another form. */
const MULTI_REGIONS = new Set(['us', 'eu']);

/** Google Vertex AI: models of several publishers behind one address and one credential. */
export class VertexAdapter implements Upstream {
  readonly signsReasoning = true;
  readonly region: string;
  private readonly origin: string;
  private readonly modelsPath: string;
  private readonly tokens: AccessTokens;
  private readonly memory = new MediaMemory();

  /** @param tokens replaces the application default credentials when no token is configured */
  constructor(
    provider: ProviderConfig,
    private readonly transport: HttpTransport,
    tokens?: AccessTokens,
  ) {
    const { project = '', location = 'global' } = provider.settings;
    this.region = location;
    this.origin = provider.baseUrl === '' ? originOf(location) : provider.baseUrl;
    if (!URL.canParse(this.origin)) throw new Error('its location makes no address');
    const scope = `projects/${encodeURIComponent(project)}/locations/${encodeURIComponent(location)}`;
    this.modelsPath = `/v1/${scope}/publishers`;
    this.tokens =
      provider.apiKey !== undefined
        ? tokensOf(provider.apiKey)
        : (tokens ?? new GoogleAccessTokens(() => fetchDefaultAccess(project)));
  }

  runsWebSearch(dialect: Dialect, upstreamModel: string): boolean {
    return publisherOf(upstreamModel).relays(dialect);
  }

  continuesPrefill(request: CanonicalRequest, upstreamModel: string): boolean {
    return publisherOf(upstreamModel).continuesPrefill(request, upstreamModel);
  }

  droppedParams(request: CanonicalRequest, route: DroppingRoute): readonly string[] {
    return publisherOf(route.upstreamModel).droppedParams(request, route);
  }

  generate(call: UpstreamCall): VendorAnswer {
    const publisher = publisherOf(call.upstreamModel);
    const { stream, dialect } = call.request;
    let token: string | undefined;
    const describe = (failure: unknown): unknown => {
      const described = publisher.relays(dialect) ? failure : nameCallerParam(failure, dialect);
      return redactKey(described, token);
    };
    return new VendorAnswer(async () => {
      const { body, headers, read } = publisher.prepare(call);
      const access = await accessWithin(this.tokens, call);
      token = access.token;
      const response = await this.transport.call({
        method: 'POST',
        url: this.urlOf(publisher, call.upstreamModel, publisher.method(stream)),
        headers: {
          ...headersOf(access, stream),
          'content-type': 'application/json',
          ...headers,
        },
        body,
        limits: call.limits,
        signal: call.signal,
      });
      if (response.status !== 200) throw await this.readError(response, access, publisher);
      return read(response, describe);
    }, describe);
  }

  embed(call: WorkCall<EmbeddingRequest>): UpstreamWork<EmbeddingVectors> {
    return {
      droppedParams: droppedEmbeddingFields(call.request, ['dimensions']),
      events: this.embedBatches(call),
    };
  }

  droppedMediaParams(request: MediaRequest, upstreamModel: string): readonly string[] {
    const { fields } = vertexImageModel(upstreamModel);
    return unknownFields(request.body.value, request.kind === 'image' ? fields : VIDEO_FIELDS);
  }

  async submitMedia(call: WorkCall<MediaRequest>): Promise<MediaProgress> {
    const { request, upstreamModel } = call;
    if (request.kind === 'image') {
      const model = vertexImageModel(upstreamModel);
      const url = this.urlOf(GOOGLE_PUBLISHER, upstreamModel, model.method);
      // Drafts may accompany an image.
      const maxBytes = (request.count + 1) * MAX_IMAGE_BYTES;
      const read = (answer: MediaAnswer) => model.read(answer, request.count);
      return this.post(url, model.encode(request), call, maxBytes, read);
    }
    if (request.kind === 'video') {
      const url = this.urlOf(GOOGLE_PUBLISHER, upstreamModel, 'predictLongRunning');
      const body = encodeVertexVideo(request);
      const read = (answer: MediaAnswer) => readVertexSubmission(answer, request);
      return this.post(url, body, call, MAX_OPERATION_BYTES, read);
    }
    throw unsupported('model', 'This provider does not generate speech.');
  }

  async pollMedia(call: OperationCall): Promise<MediaProgress> {
    const { name, resource, seconds } = readVertexOperation(call.operation);
    const url = new URL(`${this.origin}/v1/${resource}:fetchPredictOperation`);
    const maxBytes = MAX_OPERATION_BYTES + seconds * MAX_SECOND_BYTES;
    const read = (answer: MediaAnswer) => readVertexPoll(answer, call.operation, seconds);
    return this.post(url, { operationName: name }, call, maxBytes, read);
  }

  /** Lists one model of the publisher whose list needs no project, which requires a valid token. */
  async probe(call: ProbeCall): Promise<number | undefined> {
    const access = await accessWithin(this.tokens, call);
    try {
      const response = await this.transport.call({
        method: 'GET',
        url: new URL(`${this.origin}/v1beta1/publishers/google/models?pageSize=1`),
        headers: headersOf(access, false),
        limits: call.limits,
        signal: call.signal,
      });
      if (response.status !== 200) {
        throw await this.readError(response, access, GOOGLE_PUBLISHER);
      }
      // The answer is limited to one model, so it cannot tell how many there are.
      return await listedModels(response, call, undefined);
    } catch (error) {
      throw redactKey(error, access.token);
    }
  }

  private async *embedBatches(
    call: WorkCall<EmbeddingRequest>,
  ): AsyncGenerator<WorkEvent<EmbeddingVectors>> {
    const { upstreamModel } = call;
    const access = await accessWithin(this.tokens, call);
    try {
      const request = await withTexts(call.request);
      const batches = encodeVertexBatches(request, upstreamModel);
      const url = this.urlOf(GOOGLE_PUBLISHER, upstreamModel, 'predict');
      const answers = await runBatches(batches, call, async ({ body, count }, batchCall) => {
        const response = await this.transport.call({
          method: 'POST',
          url,
          headers: { ...headersOf(access, false), 'content-type': 'application/json' },
          body,
          ...batchCall,
        });
        if (response.status !== 200) throw await this.readError(response, access, GOOGLE_PUBLISHER);
        return readVertexPredictions(await response.readAll(maxBytesOfVectors(count)), count);
      });
      const counts = answers.map(({ tokens }) => tokens);
      if (!counts.includes(undefined)) {
        const counted = counts.reduce<number>((sum, tokens) => sum + (tokens ?? 0), 0);
        const { input, ceiling } = call.request;
        // The hold was based on the caller's tokens, which differ from the vendor's.
        const inputTokens =
          input.type === 'texts' ? counted : Math.min(counted, ceiling.inputTokens);
        yield { type: 'usage', usage: { ...NO_USAGE, inputTokens } };
      }
      yield { type: 'output', output: answers.flatMap(({ vectors }) => vectors) };
    } catch (error) {
      throw blameInput(redactKey(error, access.token));
    }
  }

  private async post(
    url: URL,
    body: object,
    call: ProbeCall,
    maxBytes: number,
    read: (answer: MediaAnswer) => MediaProgress,
  ): Promise<MediaProgress> {
    const access = await accessWithin(this.tokens, call);
    try {
      const response = await this.transport.call({
        method: 'POST',
        url,
        headers: { ...headersOf(access, false), 'content-type': 'application/json' },
        body: Buffer.from(JSON.stringify(body)),
        limits: call.limits,
        signal: call.signal,
      });
      if (response.status !== 200) throw await this.readError(response, access, GOOGLE_PUBLISHER);
      const limit = Math.min(maxBytes, MAX_MEDIA_BYTES);
      return await this.memory.hold(call.signal, async (reservation) =>
        read(await MediaAnswer.read(response, 'an answer about media', limit, reservation)),
      );
    } catch (error) {
      throw redactKey(error, access.token);
    }
  }

  private urlOf(publisher: VertexPublisher, model: string, method: string): URL {
    // Ids have an @ before their version, which is valid in a path.
    const id = encodeURIComponent(model).replaceAll('%40', '@');
    return new URL(`${this.origin}${this.modelsPath}/${publisher.name}/models/${id}:${method}`);
  }

  private async readError(
    response: UpstreamResponse,
    { token }: GoogleAccess,
    publisher: VertexPublisher,
  ): Promise<UpstreamError> {
    if (response.status === 401) this.tokens.forget(token);
    return readFailedAnswer(response, publisher.classifyError);
  }
}

/** Returns a model's publisher by its name. */
function publisherOf(model: string): VertexPublisher {
  return model.startsWith('claude-') ? ANTHROPIC_PUBLISHER : GOOGLE_PUBLISHER;
}

function originOf(location: string): string {
  if (location === 'global') return 'https://aiplatform.googleapis.com';
  if (MULTI_REGIONS.has(location)) return `https://aiplatform.${location}.rep.googleapis.com`;
  return `https://${location}-aiplatform.googleapis.com`;
}

function headersOf({ token, quotaProject }: GoogleAccess, stream: boolean): Record<string, string> {
  return {
    accept: stream ? 'text/event-stream' : 'application/json',
    authorization: `Bearer ${token}`,
    'user-agent': 'model-gateway',
    ...(quotaProject !== undefined && { 'x-goog-user-project': quotaProject }),
  };
}
