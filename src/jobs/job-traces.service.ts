import type { IncomingHttpHeaders } from 'node:http';
import { Injectable, Logger } from '@nestjs/common';
import type { BillableRoute } from '../canonical/billable-request.js';
import type { RouteEvent } from '../canonical/canonical-event.js';
import type { MediaRequest } from '../canonical/media-request.js';
import type {
  RequestEnding,
  RequestFollower,
  TriggeredGuardrail,
} from '../canonical/request-follower.js';
import { Database } from '../common/database/database.js';
import type { Plan } from '../routing/plan.js';
import type { TracedResponse } from '../tracing/request-trace.js';
import type { TracedRequest } from '../tracing/traced-request.js';
import { TracingService } from '../tracing/tracing.service.js';
import { readAttempts } from './job-attempts.js';
import { toMediaRequest } from './job-body.js';
import { readRoutes } from './job-routes.js';
import type { JobModality } from './job.js';

/** What a job keeps of its submission for the trace that is made at its end. */
interface KeptTrace {
  headers: Record<string, unknown>;
  /** The body's `trace`. */
  trace: unknown;
  guardrails: readonly TriggeredGuardrail[];
}

interface TracedJobRow {
  tenantId: string;
  requestId: string;
  endpoint: string;
  modality: JobModality;
  body: string;
  routes: string;
  attempts: string;
  trace: string;
  createdAt: Date;
}

const TRACE_HEADERS = ['x-gateway-broadcast', 'traceparent', 'tracestate'];

/**
 * The traces of jobs. A submission that is refused has its trace at once; a job has one when it has
 * ended, made of its row by whoever ended it.
 */
@Injectable()
export class JobTraces {
  private readonly logger = new Logger(JobTraces.name);

  constructor(
    private readonly database: Database,
    private readonly tracing: TracingService,
  ) {}

  /**
   * Follows a submission, if anybody wants its trace. Returns what gives the JSON for the job's row.
   *
   * @param trace the body's
   * @throws InvalidRequestError for a `trace` that is malformed, whether it is wanted or not
   */
  begin(
    tenantId: string,
    plan: Plan<MediaRequest>,
    origin: { headers: IncomingHttpHeaders; response: TracedResponse },
    trace: unknown,
  ): () => string | null {
    const { requestId, endpoint, startedAt, routes, attempts, request } = plan;
    const traced = toTraced({ requestId, endpoint, startedAt, routes, attempts }, request, trace);
    this.tracing.follow(traced, { tenantId, ...origin });
    const { follower } = traced;
    if (!follower) return () => null;
    const guardrails: TriggeredGuardrail[] = [];
    plan.follower = keepGuardrails(follower, guardrails);
    const headers = Object.fromEntries(TRACE_HEADERS.map((name) => [name, origin.headers[name]]));
    return () => JSON.stringify({ headers, trace, guardrails } satisfies KeptTrace);
  }

  /** Gives the trace of a job that has ended. Does not wait and does not fail. */
  endedSoon(jobId: string, route: BillableRoute, ending: RequestEnding): void {
    this.ended(jobId, route, ending).catch((error: unknown) => {
      this.logger.warn(`The trace of ${jobId} is lost: ${(error as Error).message}`);
    });
  }

  private async ended(jobId: string, route: BillableRoute, ending: RequestEnding): Promise<void> {
    const { rows } = await this.database.query<TracedJobRow>(
      `SELECT tenant_id AS "tenantId", request_id AS "requestId", endpoint, modality, body, routes,
         attempts, trace, created_at AS "createdAt"
       FROM jobs WHERE id = $1 AND trace IS NOT NULL`,
      [jobId],
    );
    const [row] = rows;
    if (!row) return;
    const { tenantId, requestId, endpoint } = row;
    const kept = JSON.parse(row.trace) as KeptTrace;
    const body = JSON.parse(row.body) as Record<string, unknown>;
    const [first, ...others] = readRoutes(row.routes);
    const traced = toTraced(
      {
        requestId,
        endpoint,
        startedAt: row.createdAt,
        routes: [first ?? route, ...others],
        attempts: readAttempts(row.attempts),
      },
      toMediaRequest(row.modality, body),
      kept.trace,
    );
    const headers = kept.headers as IncomingHttpHeaders;
    const followed = this.tracing.follow(traced, { tenantId, headers });
    if (ending.outcome === 'completed') for await (const _ of followed.watch(answerOf(route)));
    for (const guardrail of kept.guardrails) traced.follower?.guardrailTriggered(guardrail);
    traced.follower?.ended(ending);
  }
}

type Planned = Pick<TracedRequest, 'requestId' | 'endpoint' | 'startedAt' | 'routes' | 'attempts'>;

/** With the body's `trace`, which is kept apart from what goes to vendors. */
function toTraced(planned: Planned, request: MediaRequest, trace: unknown): TracedRequest {
  return {
    ...planned,
    streamed: false,
    estimate: request.estimate,
    callerGone: new AbortController().signal,
    upstreamCalled: planned.attempts.length > 0,
    request: { ...request, body: { value: { ...request.body.value, trace } } },
  };
}

function keepGuardrails(
  follower: RequestFollower,
  guardrails: TriggeredGuardrail[],
): RequestFollower {
  return {
    guardrailTriggered: (triggered) => {
      guardrails.push(triggered);
      follower.guardrailTriggered(triggered);
    },
    ended: (ending) => follower.ended(ending),
  };
}

/** All that a trace tells of an answer of files: which route gave it. */
async function* answerOf(route: BillableRoute): AsyncGenerator<RouteEvent> {
  yield { type: 'route', route, droppedParams: [] };
}
