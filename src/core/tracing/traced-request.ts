import type { BillableRequest, BillableRoute } from '../../canonical/billable-request.js';
import type { RequestFollower } from '../../canonical/request-follower.js';
import type { RoutableRequest } from '../../canonical/work-request.js';

/** What became of one route. */
export interface TracedAttempt {
  readonly route: Pick<BillableRoute, 'model' | 'provider'>;
  readonly startedAt: Date;
  /** To the first content, or to the failure. */
  readonly durationMs: number;
  /** `answered`, `uncovered` (never called: the credits did not reach), `aborted`, or a failure. */
  readonly outcome: string;
  readonly status?: number | undefined;
}

/** A planned request, as far as tracing is concerned; routing's plan is one. */
export interface TracedRequest extends BillableRequest {
  readonly request: RoutableRequest;
  readonly attempts: readonly TracedAttempt[];
  follower?: RequestFollower | undefined;
}
