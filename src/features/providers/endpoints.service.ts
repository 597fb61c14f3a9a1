import { Injectable } from '@nestjs/common';
import { toDecimal, type ExactPricing } from '../../canonical/exact-pricing.js';
import type { Caller } from '../../core/access/caller.js';
import type { Model, ModelRoute } from '../../core/catalogue/catalogue.types.js';
import { ByokUpstreams, type ByokAccess } from '../../core/credentials/byok-upstreams.service.js';
import type { HealthKey } from '../../core/routing/route-health.js';
import {
  cacheHitRateOf,
  RouteHistory,
  uptimeOf,
  type RouteSums,
} from '../../core/routing/route-history.service.js';
import { sharedSpeed } from '../../core/routing/shared-speed.js';
import { RoutingService } from '../../core/routing/routing.service.js';
import { UpstreamRegistry } from '../../vendors/upstream.registry.js';
import {
  ENDPOINT_STATUSES,
  type EndpointDto,
  type ModelEndpointsAnswerDto,
} from './endpoints.dto.js';
import { ModelsService } from './models.service.js';
import type { PricingDto } from './prices.dto.js';
import { EMBEDDING } from './providers.dto.js';

type Speed = ReturnType<RoutingService['speedOf']>;

/** Lists providers of a model with their figures. */
@Injectable()
export class EndpointsService {
  constructor(
    private readonly models: ModelsService,
    private readonly routing: RoutingService,
    private readonly past: RouteHistory,
    private readonly upstreams: UpstreamRegistry,
    private readonly byokUpstreams: ByokUpstreams,
  ) {}

  /** @throws NotFoundError (`id`) for a model that is unknown or has no provider here */
  async list(caller: Caller, id: string): Promise<ModelEndpointsAnswerDto['data']> {
    const model = await this.models.find(caller, id);
    const [routes, own, sums] = await Promise.all([
      this.models.routesOf(caller, model),
      this.byokUpstreams.of(caller),
      this.past.lately(),
    ]);
    const endpoints = routes.map(({ route, state, providerName }): EndpointDto => {
      const account = own.find(({ credential }) => credential.provider === route.provider);
      const common = { ...factsOf(model, route), name: `${providerName} | ${model.id}` };
      const described = {
        ...common,
        provider_name: providerName,
        is_own_account: account !== undefined,
      };
      if (account) return { ...described, ...this.ownFigures(route, account, state) };
      const found = sums.filter(
        (each) => each.provider === route.provider && each.model === model.catalogueId,
      );
      return { ...described, ...this.sharedFigures(route, found, state) };
    });
    const { name, created, description, architecture } = model;
    return {
      id: model.id,
      name,
      created,
      description,
      architecture: { ...(architecture ?? EMBEDDING), instruct_type: null },
      endpoints,
    };
  }

  private sharedFigures(
    route: ModelRoute,
    sums: readonly RouteSums[],
    state: EndpointDto['state'],
  ): Figures {
    const { accounts } = this.upstreams.providers.find(({ id }) => id === route.provider) ?? {};
    return {
      ...stateOf(state),
      ...speedOf(sharedSpeed(this.routing, route, accounts)),
      uptime_last_30m: uptimeOf(sums),
      cache_hit_rate: cacheHitRateOf(sums),
    };
  }

  /** Figures of shared capacity, even from the owner's calls, don't apply to a BYOK account. */
  private ownFigures(route: ModelRoute, byok: ByokAccess, state: EndpointDto['state']): Figures {
    const key: HealthKey = { provider: route.provider, upstreamModel: route.upstreamModel, byok };
    const own = this.routing.isCooling(key) ? 'cooling' : 'healthy';
    return {
      ...stateOf(state === 'paused' ? state : own),
      ...speedOf(this.routing.speedOf(key)),
      uptime_last_30m: null,
      cache_hit_rate: null,
    };
  }
}

type Figures = Pick<
  EndpointDto,
  | 'state'
  | 'status'
  | 'latency_last_30m'
  | 'throughput_last_30m'
  | 'uptime_last_30m'
  | 'cache_hit_rate'
>;

function stateOf(state: EndpointDto['state']): Pick<Figures, 'state' | 'status'> {
  return { state, status: ENDPOINT_STATUSES[state] };
}

function speedOf(speed: Speed): Pick<Figures, 'latency_last_30m' | 'throughput_last_30m'> {
  return {
    latency_last_30m: speed?.latencyMs ?? null,
    throughput_last_30m: speed?.tokensPerSecond ?? null,
  };
}

function factsOf(
  model: Model,
  { provider, pricing }: ModelRoute,
): Omit<EndpointDto, keyof Figures | 'name' | 'provider_name' | 'is_own_account'> {
  const { id, name, context_length, max_completion_tokens, supported_parameters } = model;
  const supportsToolChoice = supported_parameters.includes('tool_choice');
  return {
    model_id: id,
    model_name: name,
    tag: provider,
    context_length,
    max_completion_tokens,
    max_prompt_tokens: null,
    quantization: null,
    pricing: toPricing(pricing),
    supported_parameters,
    supports_tool_choice: {
      auto: supportsToolChoice,
      function: supportsToolChoice,
      none: supportsToolChoice,
      required: supportsToolChoice,
    },
    supports_voice_cloning: false,
    uptime_last_5m: null,
    uptime_last_1d: null,
    supports_implicit_caching:
      pricing.cacheRead < pricing.prompt && pricing.cacheWrite === pricing.prompt,
  };
}

/** Returns the API's four required prices, and others that differ from their default. */
function toPricing(price: ExactPricing): PricingDto {
  const unless = (name: keyof PricingDto, value: bigint, usual = 0n): Partial<PricingDto> =>
    value === usual ? {} : { [name]: toDecimal(value) };
  return {
    prompt: toDecimal(price.prompt),
    completion: toDecimal(price.completion),
    request: toDecimal(price.request),
    image: toDecimal(price.image),
    ...unless('input_cache_read', price.cacheRead, price.prompt),
    ...unless('input_cache_write', price.cacheWrite, price.prompt),
    ...unless('input_cache_write_1h', price.cacheWriteLong, price.cacheWrite),
    ...unless('internal_reasoning', price.reasoning, price.completion),
    ...unless('web_search', price.webSearch),
    ...unless('audio_character', price.audioCharacter),
    ...unless('audio_byte', price.audioByte),
    ...unless('audio_minute', price.audioMinute),
    ...unless('video_second', price.videoSecond),
  };
}
