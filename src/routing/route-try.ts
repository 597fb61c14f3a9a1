import type { Logger } from '@nestjs/common';
import type { GatewayMetrics } from '../metrics/gateway-metrics.js';
import type { UpstreamError } from '../upstream/upstream-error.js';
import type { PlannedRoute } from './plan.js';
import type { RouteHealth } from './route-health.js';

/** Where it is kept what became of calls to routes. */
export interface RouteRecords {
  health: RouteHealth;
  metrics: GatewayMetrics;
  logger: Logger;
}

/** One call to one route, from its begin, and every record that is kept of it. */
export class RouteTry {
  private readonly startedMs = performance.now();

  /** @param requestId of the request that the call is for, for our log */
  constructor(
    readonly route: PlannedRoute,
    private readonly records: RouteRecords,
    private readonly requestId: string,
  ) {
    records.health.recordTry(route);
  }

  /** The first content has come. */
  answered(): void {
    this.records.health.recordAnswer(this.route, performance.now() - this.startedMs);
  }

  /** The answer has come to its end. */
  completed(): void {
    this.records.health.recordCompletion(this.route);
  }

  /** There is no answer, or with `broke off` no more of it. */
  failed(error: UpstreamError, how: 'failed' | 'broke off' = 'failed'): void {
    const { health, logger } = this.records;
    health.recordFailure(this.route, error);
    // Not the error's message: a vendor may have copied the prompt into it.
    const line = `${nameOf(this.route)} ${how}: ${error.summary}`;
    logger.warn(line, { request_id: this.requestId });
  }

  /** The call is over, or its answer has begun. @returns how long that took, in whole ms */
  end(outcome: string): number {
    const { provider, catalogueId } = this.route;
    this.records.metrics.observeAttempt(provider, catalogueId, outcome);
    return Math.round(performance.now() - this.startedMs);
  }
}

/** For our log, where a tenant's own account must not look like the operator's. */
function nameOf({ provider, upstreamModel, own }: PlannedRoute): string {
  const name = `${provider}/${upstreamModel}`;
  return own ? `${name} over the credential ${own.credential.id}` : name;
}
