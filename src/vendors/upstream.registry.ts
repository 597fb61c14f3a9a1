import { Inject, Injectable } from '@nestjs/common';
import { APP_CONFIG, type AppConfig, type ProviderConfig } from '../platform/config/app-config.js';
import { HttpTransport } from './transport/http-transport.js';
import { MediaFetcher } from './transport/media-fetcher.js';
import type { Upstream } from './upstream.js';
import type { AdapterTools } from './vendor.js';
import { vendorOf } from './vendors.js';

/** The configured providers, and the adapter that speaks to each. */
@Injectable()
export class UpstreamRegistry {
  private upstreams: ReadonlyMap<string, ConfiguredUpstream> = new Map();
  /** Of providers that are gone, for requests and jobs which were planned with them. */
  private readonly retired = new Map<string, ConfiguredUpstream>();
  private readonly tools: AdapterTools;

  constructor(
    @Inject(APP_CONFIG) private readonly config: Pick<AppConfig, 'providers'>,
    transport: HttpTransport,
    mediaFetcher: MediaFetcher,
  ) {
    this.tools = { transport, mediaFetcher };
    this.refresh();
  }

  get providers(): readonly ProviderConfig[] {
    return this.config.providers;
  }

  /** To be called when other providers are configured. One that is as before keeps its adapter. */
  refresh(): void {
    const next = new Map<string, ConfiguredUpstream>();
    for (const provider of this.config.providers) {
      const text = JSON.stringify(provider);
      const known = this.upstreams.get(provider.id);
      const upstream = known?.text === text ? known.upstream : this.create(provider);
      next.set(provider.id, { text, upstream });
      this.retired.delete(provider.id);
    }
    for (const [id, one] of this.upstreams) if (!next.has(id)) this.retired.set(id, one);
    this.upstreams = next;
  }

  /**
   * Makes an adapter for an account that is none of the configured ones.
   *
   * @param transport in place of the usual one
   */
  create(provider: ProviderConfig, transport = this.tools.transport): Upstream {
    const vendor = vendorOf(provider.adapter);
    if (!vendor) throw new Error(`provider ${provider.id}: no adapter ${provider.adapter}`);
    return vendor.createAdapter(provider, { ...this.tools, transport });
  }

  has(providerId: string): boolean {
    return this.upstreams.has(providerId);
  }

  get(providerId: string): Upstream {
    const { upstream } = this.upstreams.get(providerId) ?? this.retired.get(providerId) ?? {};
    if (!upstream) throw new Error(`provider ${providerId} is not configured`);
    return upstream;
  }
}

interface ConfiguredUpstream {
  /** The provider as JSON. */
  readonly text: string;
  readonly upstream: Upstream;
}
