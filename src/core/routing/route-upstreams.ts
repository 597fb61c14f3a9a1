import { Injectable } from '@nestjs/common';
import type { Upstream } from '../../vendors/upstream.js';
import { UpstreamRegistry } from '../../vendors/upstream.registry.js';
import { ByokUpstreams } from '../credentials/byok-upstreams.service.js';
import type { PlannedRoute } from './plan.js';

/** Finds the adapter that serves a planned route. */
@Injectable()
export class RouteUpstreams {
  constructor(
    private readonly upstreams: UpstreamRegistry,
    private readonly byokUpstreams: ByokUpstreams,
  ) {}

  /**
   * Returns the route's adapter, over the tenant's BYOK account when the route uses one.
   *
   * @throws UpstreamError `operator` when a stored credential cannot be used
   */
  of({ provider, account, byok }: PlannedRoute): Upstream {
    return byok ? this.byokUpstreams.use(byok) : this.upstreams.get(provider, account);
  }
}
