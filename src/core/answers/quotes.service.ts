import { Injectable } from '@nestjs/common';
import { readModelChain } from '../../canonical/routing-fields.js';
import type { RoutableRequest } from '../../canonical/work-request.js';
import { GatewayError, InvalidRequestError } from '../../platform/errors/gateway-errors.js';
import type { JsonBody } from '../../platform/http/json-body.js';
import { CatalogueService } from '../catalogue/catalogue.service.js';
import type { ModelKind } from '../catalogue/catalogue.types.js';
import { BalanceReader } from '../ledger/balance.reader.js';
import { refusalOf } from '../ledger/hold.js';
import { maxCostOf } from '../ledger/max-cost.js';
import { quoteRoute, type RouteQuote } from '../ledger/quote-route.js';
import { UsualOutput } from '../ledger/usual-output.service.js';
import { readCacheTtl } from '../routing/cache/answer-cache.service.js';
import type { LeftOutRoute, Plan, PlannedRoute } from '../routing/plan.js';
import { RoutingService } from '../routing/routing.service.js';
import { readSessionId } from '../routing/stickiness/conversation-key.js';
import type { Call } from './call.js';
import { DensePrompts } from './dense-prompts.service.js';

export const QUOTED_ENDPOINTS = [
  ...(['chat', 'completions', 'messages', 'responses', 'embeddings', 'speech'] as const),
  ...(['jobs', 'images', 'videos'] as const),
] as const;
/** The endpoints whose calls can be quoted. */
export type QuotedEndpoint = (typeof QUOTED_ENDPOINTS)[number];

/** Which is meant where the caller does not say, by what its first model is for. */
const USUAL_ENDPOINTS: Readonly<Partial<Record<ModelKind, QuotedEndpoint>>> = {
  chat: 'chat',
  embedding: 'embeddings',
  speech: 'speech',
  image: 'images',
  video: 'videos',
};

/** Reads a body as the endpoint itself would. @throws GatewayError for what it would refuse */
export type ReadForQuote = (
  body: JsonBody,
  call: Call,
) => RoutableRequest | Promise<RoutableRequest>;

/** A route that would be tried. */
export interface QuotedRoute extends RouteQuote {
  readonly route: PlannedRoute;
  /** It has failed of late, and is tried as all others have, too. */
  readonly isCooling: boolean;
  /** Whether the vendor may have the beginning of the conversation in its cache. */
  readonly isWarm: boolean;
  /** Whether the length of the answer is that of the tenant's own answers of late. */
  readonly isFromLog: boolean;
}

/** What a call would cost, and which way it would go. */
export interface Quote {
  readonly endpoint: QuotedEndpoint;
  /** Credits that no hold has claimed. */
  readonly available: number;
  readonly maxCost: number | undefined;
  /** Undefined where the call does not ask for the cache. */
  readonly isKept: boolean | undefined;
  readonly routes: readonly QuotedRoute[];
  readonly leftOut: readonly LeftOutRoute[];
  /** How the call would be refused. */
  readonly refusal: GatewayError | undefined;
}

/**
 * Says what a call would cost, by the planner and the ledger that it would go through. Nobody is called,
 * nothing is held, charged or logged, and no guardrail is asked.
 */
@Injectable()
export class QuotesService {
  private readonly readers = new Map<QuotedEndpoint, ReadForQuote>();

  constructor(
    private readonly routing: RoutingService,
    private readonly balances: BalanceReader,
    private readonly usual: UsualOutput,
    private readonly catalogue: CatalogueService,
    private readonly prompts: DensePrompts,
  ) {}

  /** Has calls to an endpoint quoted; its feature says how their bodies are read. */
  add(endpoint: QuotedEndpoint, read: ReadForQuote): void {
    this.readers.set(endpoint, read);
  }

  /**
   * @param endpoint undefined: what the first model is for
   * @throws GatewayError for a body that the endpoint would refuse, or an unknown model
   */
  async quote(call: Call, body: JsonBody, endpoint = this.endpointOf(body)): Promise<Quote> {
    const { caller, headers } = call;
    const read = await this.readers.get(endpoint)!(body, call);
    const request = await this.prompts.counted(caller.tenantId, read);
    const costLimit = maxCostOf(request, headers);
    const ttl = readCacheTtl(headers);
    const isKept = ttl === undefined ? undefined : await this.routing.isKept(caller, request, ttl);
    const leftOut: LeftOutRoute[] = [];
    const { requestId, receivedAt, callerGone } = call;
    const sessionId = readSessionId(headers);
    const context = { requestId, receivedAt, callerGone, costLimit, leftOut, sessionId };
    const plan = await this.routing
      .plan(caller, request, { ...context, endpoint })
      .catch((error: unknown) => {
        // Without a route there is no plan, and why is told beside.
        if (error instanceof GatewayError && leftOut.length > 0) return error;
        throw error;
      });
    const { available } = await this.balances.balanceOf(caller.tenantId);
    const routes =
      plan instanceof GatewayError ? [] : await this.quoteRoutes(plan, call, available);
    const refusal = plan instanceof GatewayError ? plan : refusalFor(plan, routes, available);
    return {
      ...{ endpoint, available, isKept, routes, leftOut },
      maxCost: costLimit?.credits,
      refusal: isKept ? undefined : refusal,
    };
  }

  private async quoteRoutes(
    { request, routes, conversation }: Plan<RoutableRequest>,
    { caller }: Call,
    available: number,
  ): Promise<QuotedRoute[]> {
    const aliases = [...new Set(routes.map(({ model }) => model))];
    const usual = await this.usual.of(caller.tenantId, aliases);
    return routes.map((route) => ({
      ...quoteRoute(request, route, available, usual.get(route.model)),
      route,
      isCooling: this.routing.isCooling(route),
      isWarm: conversation?.isAt(route) ?? false,
      isFromLog: route.output !== undefined && usual.has(route.model),
    }));
  }

  private endpointOf({ value }: JsonBody): QuotedEndpoint {
    const [alias] = readModelChain(value);
    const kind = this.catalogue.find(alias)?.kind ?? 'chat';
    const endpoint = USUAL_ENDPOINTS[kind];
    if (endpoint) return endpoint;
    throw new InvalidRequestError(
      'model',
      `${JSON.stringify(alias)} is a model for ${kind}, which is billed by the length of a file: there is no quote for that.`,
    );
  }
}

/** A hold that would not fit is refused, whatever is possible on other routes. */
function refusalFor(
  plan: Plan<RoutableRequest>,
  [first]: readonly QuotedRoute[],
  available: number,
): GatewayError | undefined {
  if (!first || first.worst <= available) return undefined;
  return refusalOf(first.worst, { admitted: false, available }, plan);
}
