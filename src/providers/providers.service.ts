import { Injectable } from '@nestjs/common';
import { CatalogueService } from '../catalogue/catalogue.service.js';
import { UpstreamRegistry } from '../upstream/upstream.registry.js';
import type { ProviderDto } from './provider.dto.js';

/** The configured providers. */
@Injectable()
export class ProvidersService {
  constructor(
    private readonly catalogue: CatalogueService,
    private readonly upstreams: UpstreamRegistry,
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

  private countModels(providerId: string): number {
    return this.catalogue.models.filter((model) => model.routes[0]?.provider === providerId).length;
  }
}
