import { Injectable } from '@nestjs/common';
import { UpstreamError } from '../../vendors/upstream-error.js';
import type { Upstream } from '../../vendors/upstream.js';
import { AttemptRecorder } from './attempt-recorder.js';
import type { PlannedRoute } from './plan.js';
import { fullAccount } from './pool/account-pools.js';
import { OperatorPools } from './pool/operator-pools.js';
import { isPooled, type PooledRoute } from './pool/pool-member.js';
import { RoutePauses } from './route-pauses.service.js';
import { RouteRecords } from './route-records.js';
import { RouteUpstreams } from './route-upstreams.js';

/** Calls one route without fallback, for work that may be requested only once. */
@Injectable()
export class SingleAttempts {
  constructor(
    private readonly pauses: RoutePauses,
    private readonly operatorPools: OperatorPools,
    private readonly records: RouteRecords,
    private readonly upstreams: RouteUpstreams,
  ) {}

  async attempt<Result>(
    route: PlannedRoute,
    requestId: string,
    call: (upstream: Upstream) => Promise<Result> | undefined,
  ): Promise<Result> {
    const { pauses, records, upstreams } = this;
    if (pauses.of(route)) {
      // Treated as a failed connection: no vendor was called, and a later try may succeed.
      throw new UpstreamError({
        failure: 'connect',
        message: 'The operator has paused the route.',
      });
    }
    const pooled = this.pooledOf(route);
    const full = pooled && fullAccount(records.pools.waitMs(pooled));
    if (full) throw full;
    const use = pooled && records.pools.begin(pooled);
    const tried = new AttemptRecorder(pooled ?? route, records, requestId);
    let outcome = 'aborted';
    try {
      const asked = call(upstreams.of(route));
      if (!asked) {
        throw new UpstreamError({
          failure: 'unsupported',
          message: `The provider ${route.provider} does not support this work.`,
          param: 'model',
        });
      }
      const result = await asked;
      outcome = 'answered';
      tried.answered(false);
      return result;
    } catch (error) {
      if (error instanceof UpstreamError) {
        outcome = error.failure;
        tried.failed(error);
      }
      throw error;
    } finally {
      tried.end(outcome);
      use?.end();
    }
  }

  /** A stored route knows only its account's id. */
  private pooledOf(route: PlannedRoute): (PlannedRoute & PooledRoute) | undefined {
    if (isPooled(route)) return route;
    const { provider, account, byok } = route;
    const ofOperator = account === undefined ? undefined : this.operatorPools.of(provider);
    const member = byok ? byok.member : ofOperator?.find((one) => one.account === account);
    return member && { ...route, pooled: { member, tokens: 0 } };
  }
}
