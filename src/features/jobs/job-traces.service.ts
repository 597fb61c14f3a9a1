import type { IncomingHttpHeaders } from 'node:http';
import { Injectable, Logger, type OnModuleDestroy } from '@nestjs/common';
import type {
  RequestEnding,
  RequestObserver,
  TriggeredGuardrail,
} from '../../canonical/billable-request.js';
import type { RequestTags } from '../../canonical/request-tags.js';
import type { MediaRequest } from '../../canonical/work-request.js';
import { NO_USAGE, type Usage, type UsageSource } from '../../canonical/usage.js';
import type { KeyChain } from '../../core/access/scope.js';
import type { Caller } from '../../core/access/caller.js';
import { Database } from '../../platform/database/database.js';
import { fromStoredText } from '../../platform/database/stored-text.js';
import { endsWithin } from '../../platform/time/within.js';
import type { Plan } from '../../core/routing/plan.js';
import type { TracedResponse } from '../../core/tracing/request-trace.js';
import type { TracedRequest } from '../../core/tracing/recorded-trace.js';
import { TracingService } from '../../core/tracing/tracing.service.js';
import { toMediaRequest, type MediaBody } from './job-body.js';
import { readAttempts, readRoutes, type StoredAttempt, type StoredRoute } from './job-routes.js';
import { reasonOf } from './job-failure.js';
import type { JobModality } from './job.js';
import type { TrafficMode } from '../../canonical/billable-route.js';

/** What a job keeps of its submission for the trace that is made at its end. */
interface StoredTrace {
  headers: IncomingHttpHeaders;
  /** The body's `trace`. */
  trace: unknown;
  guardrails: readonly TriggeredGuardrail[];
}

interface EndedJobRow {
  tenantId: string;
  apiKeyId: string;
  ancestorIds: string[];
  requestId: string;
  endpoint: string;
  modality: JobModality;
  body: MediaBody;
  routes: StoredRoute[];
  attempts: StoredAttempt[];
  trace: StoredTrace;
  usage: Usage | null;
  flagged: boolean;
  createdAt: Date;
  completedAt: Date;
  outcome: string;
  model: string;
  provider: string;
  errorType: string | null;
  trafficMode: TrafficMode;
  usageSource: UsageSource;
  cost: number;
  contentLog: boolean | null;
  /** As stored. */
  endUser: string | null;
  tags: RequestTags | null;
}

/** An end that is so old has lost whoever was to give its trace. */
const LOST_AFTER_SECONDS = 5;
const MAX_ROWS = 200;
/** Of a job whose end nobody told of. */
export const TRACE_DUE = `trace_due AND completed_at < now() - make_interval(secs => ${LOST_AFTER_SECONDS})`;
/** How long a stop waits for traces that are being given; the others stand in their rows. */
const STOP_LIMIT_MS = 3_000;

const TRACE_HEADERS = ['x-gateway-broadcast', 'traceparent', 'tracestate'];

/**
 * The traces of jobs. A submission that is refused has its trace at once; a job has one when it has
 * ended, made of its row. That it is due stands in the row, from the transaction that ends the job, so
 * that a process that dies in between leaves it to the sweep.
 */
@Injectable()
export class JobTraces implements OnModuleDestroy {
  private readonly logger = new Logger(JobTraces.name);
  private readonly sending = new Set<Promise<void>>();

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
    caller: KeyChain & Pick<Caller, 'tenantId' | 'contentLog'>,
    plan: Plan<MediaRequest>,
    origin: { headers: IncomingHttpHeaders; response: TracedResponse },
    trace: unknown,
  ): () => string | null {
    const traced = toTraced(plan, plan.request, trace);
    const { tenantId, contentLog } = caller;
    this.tracing.trace(traced, { tenantId, chain: caller, contentLog, ...origin });
    const { observer } = traced;
    if (!observer) return () => null;
    const guardrails: TriggeredGuardrail[] = [];
    plan.observer = keepGuardrails(observer, guardrails);
    const headers = Object.fromEntries(TRACE_HEADERS.map((name) => [name, origin.headers[name]]));
    return () => JSON.stringify({ headers, trace, guardrails } satisfies StoredTrace);
  }

  /** Before the buffers of traces are emptied. */
  async onModuleDestroy(): Promise<void> {
    await endsWithin(STOP_LIMIT_MS, Promise.allSettled(this.sending));
  }

  /** Gives the trace of a job that has ended. Does not wait and does not fail: the sweep comes again. */
  endedSoon(jobId: string): void {
    const run: Promise<void> = this.send(jobId)
      .catch((error: Error) => {
        this.logger.warn(`The trace of ${jobId} waits: ${error.message}`);
      })
      .finally(() => this.sending.delete(run));
    this.sending.add(run);
  }

  /** Gives the traces of jobs whose end nobody told of. */
  async sweep(): Promise<void> {
    const { rows } = await this.database.background.query<{ id: string }>(
      `SELECT id FROM jobs WHERE ${TRACE_DUE} ORDER BY completed_at LIMIT $1`,
      [MAX_ROWS],
    );
    for (const { id } of rows) await this.send(id);
  }

  private async send(jobId: string): Promise<void> {
    // Whoever takes the mark away gives the trace: nobody else does.
    const { rows } = await this.database.background.query<EndedJobRow>(
      `UPDATE jobs SET trace_due = false
       FROM request_logs AS log
       WHERE jobs.id = $1 AND jobs.trace_due AND log.request_id = jobs.request_id
       RETURNING jobs.tenant_id AS "tenantId", jobs.request_id AS "requestId", jobs.endpoint,
         jobs.modality, jobs.body::json AS body, jobs.routes::json AS routes,
         jobs.attempts::json AS attempts, jobs.trace::json AS trace, jobs.usage::json AS usage,
         jobs.flagged, jobs.end_user AS "endUser", jobs.tags, jobs.created_at AS "createdAt", jobs.completed_at AS "completedAt", log.outcome, log.model, log.provider,
         log.error_type AS "errorType", log.traffic_mode AS "trafficMode",
         log.usage_source AS "usageSource", log.cost, jobs.api_key_id AS "apiKeyId",
         ARRAY(SELECT unnest(ancestor_ids) FROM api_keys WHERE id = jobs.api_key_id) AS "ancestorIds",
         (SELECT coalesce(api_keys.content_log, tenants.content_log)
            FROM api_keys JOIN tenants ON tenants.id = tenant_id
           WHERE api_keys.id = log.api_key_id) AS "contentLog"`,
      [jobId],
    );
    const [row] = rows;
    if (!row) return;
    try {
      this.follow(row);
    } catch (error) {
      this.logger.error(`The trace of ${jobId} is lost: ${reasonOf(error)}`);
    }
  }

  private follow(row: EndedJobRow): void {
    const { tenantId, requestId, endpoint, createdAt: startedAt } = row;
    const { trace: kept, body } = row;
    const [first, ...others] = readRoutes(row.routes);
    if (!first) throw new Error('it has no route');
    const routes: TracedRequest['routes'] = [first, ...others];
    const attempts = readAttempts(row.attempts);
    const media = toMediaRequest(row.modality, body);
    const endUser = row.endUser === null ? undefined : fromStoredText(row.endUser);
    const tags = row.tags ?? undefined;
    const traced = toTraced(
      { requestId, endpoint, startedAt, routes, attempts, endUser, tags },
      media,
      kept.trace,
    );
    const contentLog = row.contentLog ?? undefined;
    this.tracing.trace(traced, { tenantId, chain: row, contentLog, headers: kept.headers });
    const { observer } = traced;
    if (!observer) return;
    const answered = routes.find(
      ({ model, provider }) => model === row.model && provider === row.provider,
    );
    if (row.outcome === 'completed' && answered) {
      observer.observe({ type: 'route', route: answered, droppedParams: [] });
    }
    for (const guardrail of kept.guardrails) observer.guardrailTriggered(guardrail);
    observer.ended(toEnding(row));
  }
}

function toEnding(row: EndedJobRow): RequestEnding {
  const { outcome, model, provider, errorType, trafficMode, usageSource, flagged, cost } = row;
  return {
    outcome,
    model,
    provider,
    errorType,
    trafficMode,
    usage: row.usage ?? NO_USAGE,
    usageSource,
    flagged,
    cost,
    firstContentMs: undefined,
    endedAt: row.completedAt,
  };
}

type Planned = Pick<
  TracedRequest,
  'requestId' | 'endpoint' | 'startedAt' | 'routes' | 'attempts' | 'endUser' | 'tags'
>;

/** With the body's `trace`, which is kept apart from what goes to vendors. */
function toTraced(
  { requestId, endpoint, startedAt, routes, attempts, endUser, tags }: Planned,
  request: MediaRequest,
  trace: unknown,
): TracedRequest {
  return {
    requestId,
    endpoint,
    startedAt,
    routes,
    attempts,
    endUser,
    tags,
    streamed: false,
    estimate: request.estimate,
    callerGone: new AbortController().signal,
    upstreamCalled: attempts.length > 0,
    request: { ...request, body: { value: { ...request.body.value, trace } } },
  };
}

function keepGuardrails(
  follower: RequestObserver,
  guardrails: TriggeredGuardrail[],
): RequestObserver {
  return {
    observe: (event) => follower.observe(event),
    guardrailTriggered: (triggered) => {
      guardrails.push(triggered);
      follower.guardrailTriggered(triggered);
    },
    ended: (ending) => follower.ended(ending),
  };
}
