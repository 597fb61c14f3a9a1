import { Injectable } from '@nestjs/common';
import { denierOf } from '../../canonical/limits.js';
import type { Caller } from '../../core/access/caller.js';
import { CatalogueService } from '../../core/catalogue/catalogue.service.js';
import type { Model, ModelKind, ModelRoute } from '../../core/catalogue/catalogue.types.js';
import { NotFoundError } from '../../platform/errors/gateway-errors.js';
import { ByokUpstreams } from '../../core/credentials/byok-upstreams.service.js';
import { UpstreamRegistry } from '../../vendors/upstream.registry.js';
import { InstanceService } from '../../core/ledger/instance.service.js';
import { statesOf, worstOf } from '../../core/routing/live-states.js';
import { RoutePauses } from '../../core/routing/route-pauses.service.js';
import { shownPricesOf } from './model-prices.js';
import type { ModelDto, ModelRouteDto } from './providers.dto.js';

/** A route that serves a model. */
export interface ServedRoute {
  readonly route: ModelRoute;
  readonly providerName: string;
  /** State on shared capacity, over all instances. */
  readonly state: ModelRouteDto['state'];
}

/**
 * Lists the catalogue as a caller sees it: models with a configured provider or BYOK account that
 * the caller's allowlists permit.
 */
@Injectable()
export class ModelsService {
  constructor(
    private readonly catalogue: CatalogueService,
    private readonly upstreams: UpstreamRegistry,
    private readonly byokUpstreams: ByokUpstreams,
    private readonly pauses: RoutePauses,
    private readonly instances: InstanceService,
  ) {}

  /** @param kind undefined: models of all kinds */
  async list(caller: Caller, kind?: ModelKind): Promise<ModelDto[]> {
    const served = await this.served(caller);
    return served.filter((model) => kind === undefined || model.kind === kind).map(toModelDto);
  }

  /** Lists models with the routes that the caller may use. */
  async listWithRoutes(caller: Caller): Promise<ModelDto[]> {
    const [served, own, stateOfRoutes] = await Promise.all([
      this.served(caller),
      this.byokUpstreams.of(caller),
      this.routeStates(caller),
    ]);
    const owned = new Set(own.map(({ credential }) => credential.provider));
    return served.map((model) => ({
      ...toModelDto(model),
      kind: model.kind,
      routes: stateOfRoutes(model).map(({ route, providerName, state }) => ({
        provider: route.provider,
        provider_name: providerName,
        state,
        is_own_account: owned.has(route.provider),
      })),
    }));
  }

  /** Lists the routes of a model that the caller may use, in catalogue order. */
  async routesOf(caller: Caller, model: Model): Promise<ServedRoute[]> {
    return (await this.routeStates(caller))(model);
  }

  private async routeStates(caller: Caller): Promise<(model: Model) => ServedRoute[]> {
    const [providers, living] = await Promise.all([
      this.providersOf(caller),
      this.instances.living(),
    ]);
    const names = new Map([
      ...[...this.byokUpstreams.providersOnOffer().values()].map(
        ({ provider }) => [provider.id, provider.name] as const,
      ),
      ...this.upstreams.providers.map(({ id, name }) => [id, name] as const),
    ]);
    const stateOf = (
      { catalogueId, id }: Model,
      { provider, upstreamModel }: ModelRoute,
    ): ModelRouteDto['state'] => {
      if (this.pauses.of({ provider, model: id, catalogueId })) return 'paused';
      return worstOf([
        ...statesOf(living, provider, undefined),
        ...statesOf(living, provider, upstreamModel),
      ]);
    };
    return (model) =>
      model.routes
        .filter(({ provider }) => providers.has(provider))
        .map((route) => ({
          route,
          providerName: names.get(route.provider) ?? route.provider,
          state: stateOf(model, route),
        }));
  }

  /** @throws NotFoundError (`id`) for a model that is unknown or has no provider here */
  async get(caller: Caller, id: string): Promise<ModelDto> {
    return toModelDto(await this.find(caller, id));
  }

  /** @throws NotFoundError (`id`) for a model that is unknown or has no provider here */
  async find(caller: Caller, id: string): Promise<Model> {
    const model = this.catalogue.find(id);
    if (!model || !isOpen(model, caller, id) || !isServed(model, await this.providersOf(caller))) {
      throw new NotFoundError(
        'id',
        `The model ${JSON.stringify(id.slice(0, 200))} is not available here; GET /v1/models lists the available ones.`,
      );
    }
    return model;
  }

  private async served(caller: Caller): Promise<Model[]> {
    const providers = await this.providersOf(caller);
    return this.catalogue.models.filter(
      (model) => isOpen(model, caller) && isServed(model, providers),
    );
  }

  private async providersOf(caller: Caller): Promise<ReadonlySet<string>> {
    const { limits } = caller;
    const own = await this.byokUpstreams.of(caller);
    const all = [
      ...this.upstreams.providers.map(({ id }) => id),
      ...own.map(({ credential }) => credential.provider),
    ];
    const subjects = limits?.subjects ?? [];
    return new Set(all.filter((provider) => !denierOf(subjects, 'providers', [provider])));
  }
}

/** Returns whether the limits of the key and tenant permit it; end users' limits are unknown here. */
function isOpen({ id }: Model, { limits }: Caller, alias = id): boolean {
  return !limits || denierOf(limits.subjects, 'models', [alias, id]) === undefined;
}

function isServed(model: Model, providers: ReadonlySet<string>): boolean {
  return model.routes.some((route) => providers.has(route.provider));
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
    ...shownPricesOf(model),
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
