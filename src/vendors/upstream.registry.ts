import { Inject, Injectable } from '@nestjs/common';
import { APP_CONFIG, type AppConfig, type ProviderConfig } from '../platform/config/app-config.js';
import { HttpTransport } from './transport/http-transport.js';
import { MediaFetcher } from './transport/media-fetcher.js';
import type { Upstream } from './upstream.js';
import type { AdapterTools } from './vendor.js';
import { vendorOf, withAccount } from './vendors.js';

/** The configured providers, and the adapter that speaks to each, or to each of its accounts. */
@Injectable()
export class UpstreamRegistry {
  /** By `nameOf`. */
  private upstreams: ReadonlyMap<string, ConfiguredUpstream> = new Map();
  /** Of providers and accounts that are gone, for requests and jobs which were planned with them. */
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
      const [first] = provider.accounts ?? [];
      this.keep(next, provider.id, first ? withAccount(provider, first) : provider);
      for (const account of provider.accounts ?? []) {
        this.keep(next, nameOf(provider.id, account.id), withAccount(provider, account));
      }
    }
    for (const [id, one] of this.upstreams) if (!next.has(id)) this.retired.set(id, one);
    this.upstreams = next;
  }

  private keep(
    next: Map<string, ConfiguredUpstream>,
    name: string,
    provider: ProviderConfig,
  ): void {
    const text = JSON.stringify(provider);
    const known = this.upstreams.get(name);
    const upstream = known?.text === text ? known.upstream : this.create(provider);
    next.set(name, { text, upstream });
    this.retired.delete(name);
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

  /** @param account one of several; undefined: the provider's only one, or the first */
  get(providerId: string, account?: string): Upstream {
    const name = nameOf(providerId, account);
    const { upstream } = this.upstreams.get(name) ?? this.retired.get(name) ?? {};
    if (!upstream) throw new Error(`provider ${name} is not configured`);
    return upstream;
  }
}

/** No provider's id has an `@`. */
function nameOf(providerId: string, account: string | undefined): string {
  return account === undefined ? providerId : `${providerId}@${account}`;
}

interface ConfiguredUpstream {
  /** The provider as JSON. */
  readonly text: string;
  readonly upstream: Upstream;
}
