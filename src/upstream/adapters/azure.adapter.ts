import type { CanonicalEvent } from '../../canonical/canonical-event.js';
import type { CanonicalRequest } from '../../canonical/canonical-request.js';
import type { ProviderConfig } from '../../common/config/app-config.js';
import { ChatClient } from '../dialects/chat/chat-client.js';
import type { HttpTransport } from '../transport/http-transport.js';
import type { ProbeCall, Upstream, UpstreamCall } from '../upstream.js';

/**
 * Azure OpenAI: OpenAI's chat dialect at addresses of its own. An upstream model is the name of a
 * deployment.
 *
 * With a dated `apiVersion` the deployment stands in the path; without one the v1 surface is used,
 * where it stands in the body and no version is named.
 */
export class AzureAdapter implements Upstream {
  private readonly chat: ChatClient;

  constructor(provider: ProviderConfig, transport: HttpTransport) {
    const { apiKey } = provider;
    this.chat = new ChatClient(
      {
        ...addressesOf(provider),
        authorization: apiKey === undefined ? {} : { 'api-key': apiKey },
        apiKey,
        outputLimitField: 'max_completion_tokens',
      },
      transport,
    );
  }

  droppedParams(request: CanonicalRequest): readonly string[] {
    return this.chat.droppedParams(request);
  }

  generate(call: UpstreamCall): AsyncIterable<CanonicalEvent> {
    return this.chat.generate(call);
  }

  probe(call: ProbeCall): Promise<void> {
    return this.chat.probe(call);
  }
}

function addressesOf({ baseUrl, settings }: ProviderConfig): {
  chatUrl(deployment: string): URL;
  modelsUrl: URL;
} {
  const { apiVersion } = settings;
  if (apiVersion === undefined || apiVersion === '') {
    const chatUrl = new URL(`${baseUrl}/openai/v1/chat/completions`);
    return { chatUrl: () => chatUrl, modelsUrl: new URL(`${baseUrl}/openai/v1/models`) };
  }
  const query = `?api-version=${encodeURIComponent(apiVersion)}`;
  return {
    chatUrl: (deployment) =>
      new URL(
        `${baseUrl}/openai/deployments/${encodeURIComponent(deployment)}/chat/completions${query}`,
      ),
    modelsUrl: new URL(`${baseUrl}/openai/models${query}`),
  };
}
