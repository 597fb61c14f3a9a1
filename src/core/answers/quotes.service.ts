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
export type QuotedEndpoint = (typeof QUOTED_ENDPOINTS)[number];

/** Default endpoint by the kind of the first model. */
const USUAL_ENDPOINTS: Readonly<Partial<Record<ModelKind, QuotedEndpoint>>> = {
  chat: 'chat',
  embedding: 'embeddings',
  speech: 'speech',
  image: 'images',
  video: 'videos',
};

/**
 * Parses a body like the endpoint itself.
 *
 * @throws GatewayError for a body that the endpoint would reject
 */
export type ReadForQuote = (
  body: JsonBody,
  call: Call,
) => RoutableRequest | Promise<RoutableRequest>;

/** A route that would be tried. */
export interface QuotedRoute extends RouteQuote<PlannedRoute> {
  /** Failed recently; tried only because all others have, too. */
  readonly isCooling: boolean;
  /** True when the vendor may have the conversation's beginning cached. */
  readonly isWarm: boolean;
  /** True when the answer's length is estimated from the tenant's recent answers. */
  readonly isFromLog: boolean;
}

/** The expected cost and routes of a call. */
export interface Quote {
  readonly endpoint: QuotedEndpoint;
  /** Credits not reserved by a hold. */
  readonly available: number;
  readonly maxCost: number | undefined;
  /** Undefined when the call does not use the cache. */
  readonly isKept: boolean | undefined;
  readonly routes: readonly QuotedRoute[];
  readonly leftOut: readonly LeftOutRoute[];
  /** The error with which the call would be refused. */
  readonly refusal: GatewayError | undefined;
}

/**
 * Quotes calls with the planner and ledger that they would use. Calls no vendor, reserves, charges
 * and logs nothing, and asks no guardrail.
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

  /** Registers an endpoint that can be quoted, with its parser. */
  add(endpoint: QuotedEndpoint, read: ReadForQuote): void {
    this.readers.set(endpoint, read);
  }

  /**
   * Quotes a call.
   *
   * @param endpoint default: by the kind of the first model
   * @throws GatewayError for a body that the endpoint would reject, or an unknown model
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
        // Without a route there is no plan; the excluded routes tell why.
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
      `${JSON.stringify(alias)} is a ${kind} model, billed by the length of a file, and cannot be quoted.`,
    );
  }
}

/** Returns the refusal if the first route's hold would not fit, whatever other routes allow. */
function refusalFor(
  plan: Plan<RoutableRequest>,
  [first]: readonly QuotedRoute[],
  available: number,
): GatewayError | undefined {
  if (!first || first.worst <= available) return undefined;
  return refusalOf(first.worst, { admitted: false, available }, plan);
}
