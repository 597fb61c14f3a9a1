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
    const vendor = vendorOf(provider.adapter);
    if (!vendor) throw new Error(`provider ${provider.id}: no adapter ${provider.adapter}`);
    return vendor.createAdapter(provider, { ...this.tools, transport });
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
