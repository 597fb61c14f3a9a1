import type { CanonicalEvent } from '../../canonical/canonical-event.js';
import type { CanonicalRequest } from '../../canonical/canonical-request.js';
import type { EmbeddingRequest, EmbeddingVectors } from '../../canonical/embedding-request.js';
import type { ProviderConfig } from '../../common/config/app-config.js';
import { ChatClient } from '../dialects/chat/chat-client.js';
import { EmbeddingsClient } from '../dialects/embeddings/embeddings-client.js';
import type { HttpTransport } from '../transport/http-transport.js';
import type { ProbeCall, Upstream, UpstreamCall, UpstreamWork, WorkCall } from '../upstream.js';

/**
 * Azure OpenAI: OpenAI's dialects at addresses of its own. An upstream model is the name of a
 * deployment.
 *
 * With a dated `apiVersion` the deployment stands in the path; without one the v1 surface is used,
 * where it stands in the body and no version is named.
 */
export class AzureAdapter implements Upstream {
  private readonly chat: ChatClient;
  private readonly embeddings: EmbeddingsClient;

  constructor(provider: ProviderConfig, transport: HttpTransport) {
    const { apiKey } = provider;
    const addresses = addressesOf(provider);
    const authorization: Record<string, string> = apiKey === undefined ? {} : { 'api-key': apiKey };
    this.chat = new ChatClient(
      { ...addresses, authorization, apiKey, outputLimitField: 'max_completion_tokens' },
      transport,
    );
    this.embeddings = new EmbeddingsClient({ ...addresses, authorization, apiKey }, transport);
  }

  droppedParams(request: CanonicalRequest): readonly string[] {
    return this.chat.droppedParams(request);
  }

  generate(call: UpstreamCall): AsyncIterable<CanonicalEvent> {
    return this.chat.generate(call);
  }

  embed(call: WorkCall<EmbeddingRequest>): UpstreamWork<EmbeddingVectors> {
    return this.embeddings.embed(call);
  }

  probe(call: ProbeCall): Promise<void> {
    return this.chat.probe(call);
  }
}

function addressesOf({ baseUrl, settings }: ProviderConfig): {
  chatUrl(deployment: string): URL;
  embeddingsUrl(deployment: string): URL;
  modelsUrl: URL;
} {
  const { apiVersion } = settings;
  if (apiVersion === undefined || apiVersion === '') {
    const chatUrl = new URL(`${baseUrl}/openai/v1/chat/completions`);
    const embeddingsUrl = new URL(`${baseUrl}/openai/v1/embeddings`);
    return {
      chatUrl: () => chatUrl,
      embeddingsUrl: () => embeddingsUrl,
      modelsUrl: new URL(`${baseUrl}/openai/v1/models`),
    };
  }
  const query = `?api-version=${encodeURIComponent(apiVersion)}`;
  const urlOf = (deployment: string, operation: string): URL =>
    new URL(`${baseUrl}/openai/deployments/${encodeURIComponent(deployment)}/${operation}${query}`);
  return {
    chatUrl: (deployment) => urlOf(deployment, 'chat/completions'),
    embeddingsUrl: (deployment) => urlOf(deployment, 'embeddings'),
    modelsUrl: new URL(`${baseUrl}/openai/models${query}`),
  };
}
