import type { CanonicalEvent } from '../../canonical/canonical-event.js';
import type { CanonicalRequest, Dialect } from '../../canonical/canonical-request.js';
import type {
  MediaRequest,
  EmbeddingRequest,
  EmbeddingVectors,
} from '../../canonical/work-request.js';
import type { ProviderConfig } from '../../platform/config/app-config.js';
import { NEVER_REASONS } from '../openai/openai.adapter.js';
import { ChatClient } from '../dialects/chat/chat-client.js';
import { EmbeddingsClient } from '../dialects/embeddings/embeddings-client.js';
import { ImagesClient } from '../dialects/images/images-client.js';
import { unsupported } from '../upstream-error.js';
import type { MediaProgress } from '../media-work.js';
import type { HttpTransport } from '../transport/http-transport.js';
import type { MediaFetcher } from '../transport/media-fetcher.js';
import type {
  DroppingRoute,
  ProbeCall,
  Probed,
  Upstream,
  UpstreamCall,
  UpstreamWork,
  WorkCall,
} from '../upstream.js';

/**
 * Azure OpenAI: OpenAI's dialects at different URLs. An upstream model is the name of a deployment.
 *
 * With a dated `apiVersion`, the deployment is part of the path. Without one, the v1 API is used, which
 * takes the deployment in the body.
 */
export class AzureAdapter implements Upstream {
  private readonly chat: ChatClient;
  private readonly embeddings: EmbeddingsClient;
  private readonly images: ImagesClient;

  constructor(provider: ProviderConfig, transport: HttpTransport, mediaFetcher?: MediaFetcher) {
    const { apiKey } = provider;
    const addresses = addressesOf(provider);
    const authorization: Record<string, string> = apiKey === undefined ? {} : { 'api-key': apiKey };
    this.chat = new ChatClient(
      {
        ...addresses,
        // Routes name deployments, but the list has the models that can be deployed.
        namesAreOwn: true,
        authorization,
        apiKey,
        outputLimitField: 'max_completion_tokens',
        neverReasons: NEVER_REASONS,
      },
      transport,
    );
    // A deployment's name does not reveal its model, and current models reject the option.
    const server = { ...addresses, authorization, apiKey, asksForBytes: () => false };
    this.embeddings = new EmbeddingsClient(server, transport);
    this.images = new ImagesClient(server, transport, mediaFetcher);
  }

  runsWebSearch(dialect: Dialect): boolean {
    return dialect === 'chat';
  }

  passesTier(dialect: Dialect): boolean {
    return dialect === 'chat';
  }

  droppedParams(request: CanonicalRequest, route: DroppingRoute): readonly string[] {
    return this.chat.droppedParams(request, route);
  }

  generate(call: UpstreamCall): AsyncIterable<CanonicalEvent> {
    return this.chat.generate(call);
  }

  embed(call: WorkCall<EmbeddingRequest>): UpstreamWork<EmbeddingVectors> {
    return this.embeddings.embed(call);
  }

  droppedMediaParams(): readonly string[] {
    return [];
  }

  async submitMedia(call: WorkCall<MediaRequest>): Promise<MediaProgress> {
    const { request } = call;
    if (request.kind === 'image') return this.images.submit({ ...call, request });
    throw unsupported('model', `This provider does not generate ${request.kind} here.`);
  }

  probe(call: ProbeCall): Promise<Probed> {
    return this.chat.probe(call);
  }
}

function addressesOf({ baseUrl, settings }: ProviderConfig): {
  chatUrl(deployment: string): URL;
  embeddingsUrl(deployment: string): URL;
  imagesUrl(deployment: string): URL;
  modelsUrl: URL;
} {
  const { apiVersion } = settings;
  if (apiVersion === undefined || apiVersion === '') {
    const chatUrl = new URL(`${baseUrl}/openai/v1/chat/completions`);
    const embeddingsUrl = new URL(`${baseUrl}/openai/v1/embeddings`);
    const imagesUrl = new URL(`${baseUrl}/openai/v1/images/generations`);
    return {
      chatUrl: () => chatUrl,
      embeddingsUrl: () => embeddingsUrl,
      imagesUrl: () => imagesUrl,
      modelsUrl: new URL(`${baseUrl}/openai/v1/models`),
    };
  }
  const query = `?api-version=${encodeURIComponent(apiVersion)}`;
  const urlOf = (deployment: string, operation: string): URL =>
    new URL(`${baseUrl}/openai/deployments/${encodeURIComponent(deployment)}/${operation}${query}`);
  return {
    chatUrl: (deployment) => urlOf(deployment, 'chat/completions'),
    embeddingsUrl: (deployment) => urlOf(deployment, 'embeddings'),
    imagesUrl: (deployment) => urlOf(deployment, 'images/generations'),
    modelsUrl: new URL(`${baseUrl}/openai/models${query}`),
  };
}
