import { Injectable } from '@nestjs/common';
import { readExpiry } from '../../../core/access/api-key.js';
import type { Author } from '../../../core/access/author.js';
import { AuditLog } from '../../../core/audit/audit-log.js';
import { ProviderChecks } from '../../../core/configuration/provider-checks.service.js';
import { CatalogueService } from '../../../core/catalogue/catalogue.service.js';
import type { Model, ModelRoute } from '../../../core/catalogue/catalogue.types.js';
import { InstanceService, type LivingInstance } from '../../../core/ledger/instance.service.js';
import { ProviderHealthService } from '../../../core/routing/provider-health.service.js';
import {
  cacheHitRateOf,
  RouteHistory,
  type RouteStep,
  type RouteSums,
} from '../../../core/routing/route-history.service.js';
import { sharedSpeed } from '../../../core/routing/shared-speed.js';
import { statesOf, worstOf } from '../../../core/routing/live-states.js';
import {
  RoutePauses,
  type PausedThing,
  type RoutePause,
} from '../../../core/routing/route-pauses.service.js';
import { Database } from '../../../platform/database/database.js';
import { InvalidRequestError, NotFoundError } from '../../../platform/errors/gateway-errors.js';
import { readCursor, toCursorPage, type CursorPage } from '../../../platform/http/cursor-page.js';
import type { JsonObject } from '../../../platform/http/json-body.js';
import { UpstreamRegistry } from '../../../vendors/upstream.registry.js';
import { RoutingService } from '../../../core/routing/routing.service.js';
import type { OperatedProviderDto } from './operated-providers.dto.js';
import { toAccount, toOperatedCheck, toPause } from './operated-providers.js';
import type {
  OperatedRouteDto,
  PauseRouteDto,
  RouteHistoryDto,
  RouteNameDto,
  RoutePastDto,
  RoutePauseDto,
  RouteQueryDto,
  RouteStepDto,
} from './routes.dto.js';

/** Providers and routes for operators: health on all instances, history and pauses. */
@Injectable()
export class RoutesAdmin {
  constructor(
    private readonly catalogue: CatalogueService,
    private readonly upstreams: UpstreamRegistry,
    private readonly health: ProviderHealthService,
    private readonly instances: InstanceService,
    private readonly pauses: RoutePauses,
    private readonly past: RouteHistory,
    private readonly routing: RoutingService,
    private readonly checks: ProviderChecks,
    private readonly database: Database,
    private readonly audit: AuditLog,
  ) {}

  /** Probes the configured providers. Takes up to about 2 s. */
  async providers(): Promise<OperatedProviderDto[]> {
    const living = await this.instances.living();
    const pauses = new Map(this.pauses.list().map((pause) => [nameOf(pause), pause]));
    return Promise.all(
      this.upstreams.providers.map(async ({ id, name, type }) => {
        const { status, summary, checkedAt } = await this.health.check(id);
        const pause = pauses.get(nameOf({ provider: id, model: null }));
        return {
          id,
          name,
          type,
          status,
          health: {
            latency_p50: summary.latencyP50,
            latency_p99: summary.latencyP99,
            error_rate: summary.errorRate,
            last_checked_at: checkedAt.toISOString(),
          },
          pause: pause ? toPause(pause) : null,
          key_checks: this.checks.of(id).map(toOperatedCheck),
          accounts: this.routing.accountsOf(id)?.map(toAccount) ?? [],
          instances: statesOf(living, id, undefined),
        };
      }),
    );
  }

  /** Returns every catalogue route, by model. */
  async routes({
    limit,
    cursor,
    provider,
    model,
  }: RouteQueryDto): Promise<CursorPage<OperatedRouteDto>> {
    const behind = readCursor(cursor, ['text', 'integer']);
    const part = model?.toLowerCase();
    const wanted = this.catalogue.rows
      .filter(({ catalogueId }) => part === undefined || catalogueId.toLowerCase().includes(part))
      .flatMap((row) => row.routes.map((route, position) => ({ row, route, position })))
      .filter(({ route }) => provider === undefined || route.provider === provider)
      .sort((one, other) => compare(placeOf(one), placeOf(other)));
    const after = behind && ([behind[0]!, Number(behind[1])] as const);
    const rest = after ? wanted.filter((each) => compare(placeOf(each), after) > 0) : wanted;
    const [living, sums] = await Promise.all([this.instances.living(), this.past.lately()]);
    return toCursorPage(rest.slice(0, limit + 1), limit, placeOf, (each) =>
      this.toRoute(each, living, sums),
    );
  }

  /** @param hours length of the history; the first step is complete */
  async history(hours: number): Promise<RouteHistoryDto> {
    const step = stepOf(hours);
    const begin = Date.now() / 1_000 - hours * 3_600;
    const start = new Date(Math.ceil(begin / step) * step * 1_000);
    const steps = await this.past.read(start, step);
    const routes = new Map<string, RoutePastDto>();
    for (const each of steps) {
      const { provider, model } = each;
      const key = nameOf({ provider, model });
      const route = routes.get(key) ?? { provider, model, steps: [] };
      route.steps.push(toStep(each));
      routes.set(key, route);
    }
    return {
      object: 'route_history',
      start: start.toISOString(),
      step_seconds: step,
      data: [...routes.values()],
    };
  }

  listPauses(): RoutePauseDto[] {
    return this.pauses.list().map(toPause);
  }

  /**
   * Creates or updates a pause.
   * @throws InvalidRequestError for an unknown provider or route, or an end in the past
   */
  async pause(author: Author, body: PauseRouteDto): Promise<RoutePauseDto> {
    const thing = this.find(body);
    const until = readExpiry(body.until, 'until') ?? null;
    const { reason } = body;
    await this.database.transaction(async (client) => {
      const before = await this.pauses.resume(client, thing);
      await this.pauses.pause(client, { ...thing, reason, pausedBy: author.actor.name, until });
      await this.audit.record(client, author, {
        tenantId: null,
        action: 'route.pause',
        target: { type: 'route', id: nameOf(thing) },
        before: before ? factsOf(before) : null,
        after: factsOf({ reason, until }),
      });
    });
    await this.spread();
    const paused = this.pauses.list().find((pause) => nameOf(pause) === nameOf(thing));
    if (!paused) throw new Error('the pause ended before it could be shown');
    return toPause(paused);
  }

  /**
   * @returns the ended pause
   * @throws NotFoundError (`provider`) when nothing is paused under this name
   */
  async resume(author: Author, body: RouteNameDto): Promise<RoutePauseDto> {
    const thing = { provider: body.provider, model: body.model ?? null };
    const ended = await this.database.transaction(async (client) => {
      const pause = await this.pauses.resume(client, thing);
      if (!pause) {
        throw new NotFoundError(
          thing.model === null ? 'provider' : 'model',
          'Nothing is paused under this name. See GET /v1/admin/routes/pauses for current pauses.',
        );
      }
      await this.audit.record(client, author, {
        tenantId: null,
        action: 'route.resume',
        target: { type: 'route', id: nameOf(thing) },
        before: factsOf(pause),
        after: null,
      });
      return pause;
    });
    await this.spread();
    return toPause(ended);
  }

  private async spread(): Promise<void> {
    const living = await this.instances.living();
    await this.pauses.spread(living.length - 1);
  }

  /** @throws InvalidRequestError */
  private find({ provider, model = null }: RouteNameDto): PausedThing {
    const routes = this.catalogue.rows.flatMap((row) => row.routes);
    const isKnown =
      this.upstreams.has(provider) || routes.some((route) => route.provider === provider);
    if (!isKnown) {
      throw new InvalidRequestError(
        'provider',
        'The provider does not exist. See GET /v1/admin/routes for all routes.',
      );
    }
    if (model === null) return { provider, model };
    const row =
      this.catalogue.rows.find(({ catalogueId }) => catalogueId === model) ??
      this.catalogue.find(model);
    if (row?.routes.some((route) => route.provider === provider) === true) {
      return { provider, model };
    }
    throw new InvalidRequestError(
      'model',
      'This provider has no route to this model. See GET /v1/admin/routes for all routes.',
    );
  }

  private toRoute(
    { row, route, position }: Place,
    living: readonly LivingInstance[],
    sums: readonly RouteSums[],
  ): OperatedRouteDto {
    const { catalogueId } = row;
    const { provider, upstreamModel } = route;
    const { accounts } = this.upstreams.providers.find(({ id }) => id === provider) ?? {};
    const speed = sharedSpeed(this.routing, route, accounts);
    const pause = this.pauses.of({ provider, model: catalogueId, catalogueId });
    const instances = [
      ...statesOf(living, provider, undefined),
      ...statesOf(living, provider, upstreamModel),
    ];
    return {
      model: catalogueId,
      kind: row.kind,
      provider,
      upstream_model: upstreamModel,
      position,
      is_configured: this.upstreams.has(provider),
      pause: pause ? toPause(pause) : null,
      state: worstOf(instances),
      instances,
      cache_hit_rate: cacheHitRateOf(
        sums.filter((each) => each.provider === provider && each.model === catalogueId),
      ),
      latency: speed?.latencyMs ?? null,
      throughput: speed?.tokensPerSecond ?? null,
    };
  }
}

interface Place {
  row: Model;
  route: ModelRoute;
  position: number;
}

function placeOf({ row, position }: Place): readonly [string, number] {
  return [row.catalogueId, position];
}

function compare(one: readonly [string, number], other: readonly [string, number]): number {
  if (one[0] !== other[0]) return one[0] < other[0] ? -1 : 1;
  return one[1] - other[1];
}

function stepOf(hours: number): number {
  if (hours <= 6) return 300;
  return hours <= 48 ? 1_800 : 14_400;
}

function toStep({ at, answered, failed, latencyMs, ...used }: RouteStep): RouteStepDto {
  return {
    at: at.toISOString(),
    answered,
    failed,
    latency_ms: answered > 0 ? Math.round(latencyMs / answered) : null,
    prompt_tokens: used.promptTokens,
    cached_tokens: used.cachedTokens,
  };
}

function nameOf({ provider, model }: PausedThing): string {
  return model === null ? provider : `${provider} ${model}`;
}

function factsOf({ reason, until }: Pick<RoutePause, 'reason' | 'until'>): JsonObject {
  return { reason, until: until?.toISOString() ?? null };
}
