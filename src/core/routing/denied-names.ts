import { denierOf, nameOf, type LimitedSubject } from '../../canonical/limits.js';
import type { RoutableRequest } from '../../canonical/work-request.js';
import { PermissionError } from '../../platform/errors/gateway-errors.js';
import type { Model } from '../catalogue/catalogue.types.js';
import type { CacheLookup } from './cache/answer-cache.service.js';
import { noteLeftOut } from './left-out.js';
import type { LeftOutRoute, PlannedRoute } from './plan.js';

/**
 * @throws PermissionError for a model in the chain that an allow or deny list excludes
 */
export function refuseDenied(
  { body, models: aliases }: RoutableRequest,
  models: readonly Model[],
  limits: readonly LimitedSubject[],
): void {
  for (const [index, model] of models.entries()) {
    const denier = denierOf(limits, 'models', [aliases[index]!, model.id]);
    if (!denier) continue;
    const field = body.value.model === aliases[index] ? 'model' : 'models';
    throw new PermissionError(
      `The ${nameOf(denier.scope)}'s list of models excludes ${JSON.stringify(aliases[index])}, named in \`${field}\`. Choose another model, or ask for a change of the list.`,
      `${denier.scope}.models`,
    );
  }
}

/**
 * @throws PermissionError when the provider lists exclude all routes
 */
export function withoutDenied(
  routes: PlannedRoute[],
  subjects: readonly LimitedSubject[],
  leftOut?: LeftOutRoute[],
): PlannedRoute[] {
  let denier: LimitedSubject | undefined;
  const left = routes.filter(({ provider }) => {
    const found = denierOf(subjects, 'providers', [provider]);
    denier ??= found;
    return found === undefined;
  });
  noteLeftOut(leftOut, routes, left, 'denied');
  if (left.length > 0 || !denier) return left;
  throw new PermissionError(
    `The ${nameOf(denier.scope)}'s list of providers excludes every provider of this model. Choose another model, or ask for a change of the list.`,
    `${denier.scope}.providers`,
  );
}

/** Drops a cache hit from a provider that the lists exclude. */
export function withoutDeniedHit(
  cache: CacheLookup | undefined,
  subjects: readonly LimitedSubject[] | undefined,
): CacheLookup | undefined {
  if (!cache?.hit || !subjects) return cache;
  const isDenied = denierOf(subjects, 'providers', [cache.hit.route.provider]) !== undefined;
  return isDenied ? { ...cache, hit: undefined } : cache;
}
