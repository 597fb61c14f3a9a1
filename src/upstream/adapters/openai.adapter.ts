import type { CanonicalEvent } from '../../canonical/canonical-event.js';
import type { CanonicalRequest } from '../../canonical/canonical-request.js';
import type { ProviderConfig } from '../../common/config/app-config.js';
import { ChatClient } from '../dialects/chat/chat-client.js';
import type { OutputLimitField } from '../dialects/chat/encode-chat-prompt.js';
import type { HttpTransport } from '../transport/http-transport.js';
import type { ProbeCall, Upstream, UpstreamCall } from '../upstream.js';

/** OpenAI and every server that speaks its API. */
export class OpenAiAdapter implements Upstream {
  private readonly chat: ChatClient;

  constructor(provider: ProviderConfig, transport: HttpTransport) {
    const { baseUrl, apiKey } = provider;
    const chatUrl = new URL(`${baseUrl}/chat/completions`);
    this.chat = new ChatClient(
      {
        chatUrl: () => chatUrl,
        modelsUrl: new URL(`${baseUrl}/models`),
        authorization: apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` },
        apiKey,
        outputLimitField: outputLimitFieldOf(provider),
      },
      transport,
    );
  }

  droppedParams(request: CanonicalRequest): readonly string[] {
    return this.clientFor(request).droppedParams(request);
  }

  generate(call: UpstreamCall): AsyncIterable<CanonicalEvent> {
    return this.clientFor(call.request).generate(call);
  }

  probe(call: ProbeCall): Promise<void> {
    return this.chat.probe(call);
  }

  /** The wire format in which a request goes out; the one place that chooses it. */
  private clientFor(_request: CanonicalRequest): Pick<Upstream, 'droppedParams' | 'generate'> {
    return this.chat;
  }
}

/** OpenAI itself wants the new name; a compatible server gets the old one, unless its settings say otherwise. */
function outputLimitFieldOf({ id, settings }: ProviderConfig): OutputLimitField {
  const { outputLimitField } = settings;
  if (outputLimitField === 'max_tokens' || outputLimitField === 'max_completion_tokens') {
    return outputLimitField;
  }
  return id === 'openai' ? 'max_completion_tokens' : 'max_tokens';
}
