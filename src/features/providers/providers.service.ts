import { Injectable } from '@nestjs/common';
import { CatalogueService } from '../../core/catalogue/catalogue.service.js';
import { UpstreamRegistry } from '../../vendors/upstream.registry.js';
import {
  ProviderHealthService,
  type ProviderHealth,
} from '../../core/routing/provider-health.service.js';
import { RoutingService } from '../../core/routing/routing.service.js';
import {
  cacheHitRateOf,
  RouteHistory,
  uptimeOf,
  type RouteSums,
} from '../../core/routing/route-history.service.js';
import type { MeasuredProviderDto, ProviderDto, ProviderHealthDto } from './providers.dto.js';

/** Lists the configured providers. */
@Injectable()
export class ProvidersService {
  constructor(
    private readonly catalogue: CatalogueService,
    private readonly upstreams: UpstreamRegistry,
    private readonly health: ProviderHealthService,
    private readonly past: RouteHistory,
    private readonly routing: RoutingService,
  ) {}

  /** @param type only providers of this type; any other value gives an empty list */
  async list(type: string | undefined): Promise<ProviderDto[]> {
    const sums = await this.past.lately();
    return this.upstreams.providers
      .filter((provider) => type === undefined || provider.type === type)
      .map((provider) => ({
        id: provider.id,
        name: provider.name,
        type: provider.type,
        status: 'unknown',
        models_count: this.countModels(provider.id),
        accounts: this.routing.accountsOf(provider.id)?.map(({ id, state }) => ({ id, state })),
        measured: measuredOf(sums.filter((each) => each.provider === provider.id)),
      }));
  }

  /** Lists providers with their health. Probes all at once, which takes up to about 2 s. */
  async listWithHealth(type: string | undefined): Promise<ProviderDto[]> {
    const providers = await this.list(type);
    return Promise.all(
      providers.map(async (provider) => {
        const health = await this.health.check(provider.id);
        return { ...provider, status: health.status, health: toHealthDto(health) };
      }),
    );
  }

  private countModels(providerId: string): number {
    return this.catalogue.models.filter((model) => model.routes[0]?.provider === providerId).length;
  }
}

function measuredOf(sums: readonly RouteSums[]): MeasuredProviderDto | undefined {
  const uptime = uptimeOf(sums);
  if (uptime === null) return undefined;
  const total = (name: 'answered' | 'failed' | 'latencyMs' | 'outputTokens' | 'outputMs'): number =>
    sums.reduce((sum, each) => sum + each[name], 0);
  const answered = total('answered');
  const outputMs = total('outputMs');
  return {
    calls: answered + total('failed'),
    uptime,
    latency_mean: answered > 0 ? Math.round(total('latencyMs') / answered) : null,
    throughput:
      outputMs > 0 ? Number(((1_000 * total('outputTokens')) / outputMs).toFixed(1)) : null,
    cache_hit_rate: cacheHitRateOf(sums),
  };
}

function toHealthDto({ summary, checkedAt }: ProviderHealth): ProviderHealthDto {
  return {
    latency_p50: summary.latencyP50,
    latency_p99: summary.latencyP99,
    error_rate: summary.errorRate,
    last_checked_at: checkedAt.toISOString(),
  };
}
