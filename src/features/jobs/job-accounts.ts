import { Injectable } from '@nestjs/common';
import { ByokUpstreams } from '../../core/credentials/byok-upstreams.service.js';
import type { PlannedRoute } from '../../core/routing/plan.js';
import type { JobRoute } from './job-routes.js';

/** A route of a job, with the account that it goes over as it is now. */
export type OpenJobRoute = PlannedRoute & JobRoute;

/** Opens the accounts that jobs' routes go over. A job keeps no more of one than its id. */
@Injectable()
export class JobAccounts {
  constructor(private readonly byokUpstreams: ByokUpstreams) {}

  /** Undefined when the tenant has deleted its account since; shared capacity takes no such job. */
  async open(tenantId: string, route: JobRoute): Promise<OpenJobRoute | undefined> {
    const { credentialId, trafficMode } = route;
    if (trafficMode === 'shared') return route;
    const byok = credentialId && (await this.byokUpstreams.find(tenantId, credentialId));
    return byok ? { ...route, byok } : undefined;
  }
}
