import { Injectable } from '@nestjs/common';
import { CatalogueService } from '../../core/catalogue/catalogue.service.js';
import { UpstreamRegistry } from '../../vendors/upstream.registry.js';
import {
  ProviderHealthService,
  type ProviderHealth,
} from '../../core/routing/provider-health.service.js';
import type { ProviderDto, ProviderHealthDto } from './providers.dto.js';

/** The configured providers. */
@Injectable()
export class ProvidersService {
  constructor(
    private readonly catalogue: CatalogueService,
    private readonly upstreams: UpstreamRegistry,
    private readonly health: ProviderHealthService,
  ) {}

  /** @param type only providers of this type; any other value gives an empty list */
  list(type: string | undefined): ProviderDto[] {
    return this.upstreams.providers
      .filter((provider) => type === undefined || provider.type === type)
      .map((provider) => ({
        id: provider.id,
        name: provider.name,
        type: provider.type,
        status: 'unknown',
        models_count: this.countModels(provider.id),
      }));
  }

  /** The same with what probes of each say now, all of them at once; takes up to about 2 s. */
  listWithHealth(type: string | undefined): Promise<ProviderDto[]> {
    return Promise.all(
      this.list(type).map(async (provider) => {
        const health = await this.health.check(provider.id);
        return { ...provider, status: health.status, health: toHealthDto(health) };
      }),
    );
  }

  private countModels(providerId: string): number {
    return this.catalogue.models.filter((model) => model.routes[0]?.provider === providerId).length;
  }
}

function toHealthDto({ summary, checkedAt }: ProviderHealth): ProviderHealthDto {
  return {
    latency_p50: summary.latencyP50,
    latency_p99: summary.latencyP99,
    error_rate: summary.errorRate,
    last_checked_at: checkedAt.toISOString(),
  };
}
