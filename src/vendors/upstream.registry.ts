import { Inject, Injectable } from '@nestjs/common';
import { APP_CONFIG, type AppConfig, type ProviderConfig } from '../platform/config/app-config.js';
import { AnthropicAdapter } from './anthropic/anthropic.adapter.js';
import { AzureAdapter } from './azure/azure.adapter.js';
import { BedrockAdapter } from './bedrock/bedrock.adapter.js';
import { FishAudioAdapter } from './fish-audio/fish-audio.adapter.js';
import { OpenAiAdapter } from './openai/openai.adapter.js';
import { SandboxAdapter } from './sandbox/sandbox.adapter.js';
import { VertexAdapter } from './vertex/vertex.adapter.js';
import { HttpTransport } from './transport/http-transport.js';
import { MediaFetcher } from './transport/media-fetcher.js';
import type { Upstream } from './upstream.js';

/** What adapters are built with, beside the provider's settings. */
export interface AdapterTools {
  readonly transport: HttpTransport;
  /** Fetches callers' images and documents, for vendors that take no URLs. */
  readonly mediaFetcher: MediaFetcher;
}

export type AdapterFactory = (provider: ProviderConfig, tools: AdapterTools) => Upstream;

/** Every adapter, by the name that a provider's configuration gives. A new vendor is one line here. */
export const ADAPTERS: Record<string, AdapterFactory> = {
  anthropic: (provider, { transport }) => new AnthropicAdapter(provider, transport),
  azure: (provider, { transport, mediaFetcher }) =>
    new AzureAdapter(provider, transport, mediaFetcher),
  bedrock: (provider, tools) => new BedrockAdapter(provider, tools),
  'fish-audio': (provider, { transport }) => new FishAudioAdapter(provider, transport),
  openai: (provider, { transport, mediaFetcher }) =>
    new OpenAiAdapter(provider, transport, mediaFetcher),
  sandbox: () => new SandboxAdapter(),
  vertex: (provider, { transport }) => new VertexAdapter(provider, transport),
};

/** The configured providers, and the adapter that speaks to each. */
@Injectable()
export class UpstreamRegistry {
  private readonly upstreams = new Map<string, Upstream>();
  private readonly tools: AdapterTools;
  readonly providers: readonly ProviderConfig[];

  constructor(
    @Inject(APP_CONFIG) config: AppConfig,
    transport: HttpTransport,
    mediaFetcher: MediaFetcher,
  ) {
    this.tools = { transport, mediaFetcher };
    this.providers = config.providers;
    for (const provider of config.providers) {
      this.upstreams.set(provider.id, this.create(provider));
    }
  }

  /**
   * Makes an adapter for an account that is none of the configured ones.
   *
   * @param transport in place of the usual one
   */
  create(provider: ProviderConfig, transport = this.tools.transport): Upstream {
    const create = Object.hasOwn(ADAPTERS, provider.adapter)
      ? ADAPTERS[provider.adapter]
      : undefined;
    if (!create) throw new Error(`provider ${provider.id}: no adapter ${provider.adapter}`);
    return create(provider, { ...this.tools, transport });
  }

  has(providerId: string): boolean {
    return this.upstreams.has(providerId);
  }

  get(providerId: string): Upstream {
    const upstream = this.upstreams.get(providerId);
    if (!upstream) throw new Error(`provider ${providerId} is not configured`);
    return upstream;
  }
}
