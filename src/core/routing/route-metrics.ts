import type { Model } from '../catalogue/catalogue.types.js';
import type { GatewayMetrics } from '../../platform/metrics/gateway-metrics.js';
import type { LabelledValue } from '../../platform/metrics/tracked-metrics.js';
import {
  ROUTE_STATES,
  type RouteCondition,
  type RouteHealth,
  type RouteState,
} from './route-health.js';

import { ACCOUNT_STATES, type AccountFigures } from './pool/account-figures.js';

/** Stands for the whole provider in place of a model. */
const WHOLE_PROVIDER = '*';

/** Exports the state of routes in this process. */
export function trackRoutes(
  metrics: GatewayMetrics,
  health: RouteHealth,
  rows: () => readonly Model[],
): void {
  metrics.track(
    'gateway_routes_cooling',
    'Models at providers, and whole providers, in cooldown in this process.',
    () => health.countCooling().shared,
  );
  metrics.track(
    'gateway_own_routes_cooling',
    'BYOK routes in cooldown in this process, each account separately.',
    () => health.countCooling().byok,
  );
  metrics.trackEach(
    'gateway_route_state',
    'Processes that see a shared route in this state.',
    ['provider', 'model', 'state'],
    () => describeRoutes(health.sharedRoutes(), rows()),
  );
}

/** Exports the load of providers' accounts where there are several. */
export function trackAccounts(
  metrics: GatewayMetrics,
  read: () => readonly { provider: string; figures: AccountFigures }[],
): void {
  const track = (name: string, help: string, value: (figures: AccountFigures) => number): void =>
    metrics.trackEach(name, help, ['provider', 'account'], () =>
      read().map(({ provider, figures }) => ({
        labels: { provider, account: figures.id },
        value: value(figures),
      })),
    );
  track(
    'gateway_account_requests_in_flight',
    'Requests in flight over one of a provider’s accounts.',
    ({ inFlight }) => inFlight,
  );
  track(
    'gateway_account_requests_last_minute',
    'Requests over one of a provider’s accounts in the last minute.',
    ({ requestsLastMinute }) => requestsLastMinute,
  );
  track(
    'gateway_account_tokens_last_minute',
    'Tokens over one of a provider’s accounts in the last minute, expected usage included.',
    ({ tokensLastMinute }) => tokensLastMinute,
  );
  metrics.trackEach(
    'gateway_account_state',
    'Processes that see one of a provider’s accounts in this state.',
    ['provider', 'account', 'state'],
    () =>
      read().flatMap(({ provider, figures }) =>
        ACCOUNT_STATES.map((state) => ({
          labels: { provider, account: figures.id, state },
          value: Number(state === figures.state),
        })),
      ),
  );
}

/**
 * Returns a value for each state of each route, by catalogue row. Callers can invent names in
 * families, so a family has the state of its worst member. A failing provider covers all of its
 * models.
 */
export function describeRoutes(
  conditions: readonly RouteCondition[],
  rows: readonly Model[],
): LabelledValue[] {
  const providers = new Map<string, RouteState>();
  const routes = new Map<string, RouteState>();
  for (const { provider, account, upstreamModel, state } of conditions) {
    // One of several accounts does not stand for the route.
    if (account !== undefined) continue;
    if (upstreamModel === undefined) providers.set(provider, state);
    else routes.set(`${provider}/${upstreamModel}`, state);
  }
  const states = new Map<string, Map<string, RouteState>>();
  const note = (provider: string, model: string, ...found: (RouteState | undefined)[]): void => {
    const models = states.get(provider) ?? new Map<string, RouteState>();
    const known = found.filter((state) => state !== undefined);
    states.set(provider, models.set(model, worstOf([models.get(model) ?? 'healthy', ...known])));
  };
  for (const [provider, state] of providers) note(provider, WHOLE_PROVIDER, state);
  for (const { catalogueId, routes: planned } of rows) {
    for (const { provider, upstreamModel } of planned) {
      const name = `${provider}/${upstreamModel}`;
      const found = name.endsWith('*') ? worstMember(routes, name) : routes.get(name);
      if (found) note(provider, catalogueId, found, providers.get(provider));
    }
  }
  return [...states].flatMap(([provider, models]) =>
    [...models].flatMap(([model, current]) =>
      ROUTE_STATES.map((state) => ({
        labels: { provider, model, state },
        value: Number(state === current),
      })),
    ),
  );
}

function worstMember(
  routes: ReadonlyMap<string, RouteState>,
  family: string,
): RouteState | undefined {
  const beginning = family.slice(0, -1);
  const members = [...routes].filter(([name]) => name.startsWith(beginning));
  return members.length === 0 ? undefined : worstOf(members.map(([, state]) => state));
}

function worstOf(states: readonly RouteState[]): RouteState {
  return ROUTE_STATES.findLast((state) => states.includes(state)) ?? 'healthy';
}
