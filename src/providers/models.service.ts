import { Injectable } from '@nestjs/common';
import { CatalogueService } from '../catalogue/catalogue.service.js';
import type { Model } from '../catalogue/model.js';
import { NotFoundError } from '../common/errors/gateway-errors.js';
import { UpstreamRegistry } from '../upstream/upstream.registry.js';
import type { ModelDto } from './model.dto.js';

/** The catalogue as callers see it: only what a configured provider serves. */
@Injectable()
export class ModelsService {
  constructor(
    private readonly catalogue: CatalogueService,
    private readonly upstreams: UpstreamRegistry,
  ) {}

  list(): ModelDto[] {
    return this.served().map(toModelDto);
  }

  listEmbeddingModels(): ModelDto[] {
    return this.served()
      .filter((model) => model.kind === 'embedding')
      .map(toModelDto);
  }

  /** @throws NotFoundError (`id`) for a model that is unknown or that nobody serves here */
  get(id: string): ModelDto {
    const model = this.catalogue.find(id);
    if (!model || !this.isServed(model)) {
      throw new NotFoundError(
        'id',
        `The model ${JSON.stringify(id.slice(0, 200))} does not exist here; GET /v1/models lists those that do.`,
      );
    }
    return toModelDto(model);
  }

  private served(): Model[] {
    return this.catalogue.models.filter((model) => this.isServed(model));
  }

  private isServed(model: Model): boolean {
    return model.routes.some((route) => this.upstreams.has(route.provider));
  }
}

function toModelDto(model: Model): ModelDto {
  return {
    id: model.id,
    object: 'model',
    created: model.created,
    owned_by: model.owned_by,
    name: model.name,
    description: model.description,
    context_length: model.context_length,
    pricing: { ...model.pricing, ...fourPrices(model) },
    architecture: model.architecture,
    top_provider: {
      context_length: model.context_length,
      max_completion_tokens: model.max_completion_tokens,
      is_moderated: model.is_moderated,
    },
    supported_parameters: model.supported_parameters,
    per_request_limits: null,
  };
}

/** The interface's four are always there. */
function fourPrices({
  pricing,
}: Model): Pick<ModelDto['pricing'], 'prompt' | 'completion' | 'request' | 'image'> {
  return {
    prompt: pricing.prompt ?? '0',
    completion: pricing.completion ?? '0',
    request: pricing.request ?? '0',
    image: pricing.image ?? '0',
  };
}
