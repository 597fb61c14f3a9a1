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

/** Data of the submission that the job stores for its trace. */
interface StoredTrace {
  headers: IncomingHttpHeaders;
  /** `trace` of the request body. */
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

/** A trace this overdue has lost its process. */
const LOST_AFTER_SECONDS = 5;
const MAX_ROWS = 200;
/** SQL condition for overdue traces. */
export const TRACE_DUE = `trace_due AND completed_at < now() - make_interval(secs => ${LOST_AFTER_SECONDS})`;
/** How long shutdown waits for traces in progress. Others stay flagged in their rows. */
const STOP_LIMIT_MS = 3_000;

const TRACE_HEADERS = ['x-gateway-broadcast', 'traceparent', 'tracestate'];

/**
 * Emits traces of jobs. A rejected submission is traced at once; a job is traced from its row when
 * it ends. The ending transaction sets a flag, so the sweep takes over after a crash.
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
   * Starts a trace of a submission if tracing is enabled. Returns a function that gives the JSON
   * to store.
   * @param trace `trace` of the body
   * @throws InvalidRequestError for a malformed `trace`, even when tracing is disabled
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

  /** Runs before the trace buffers are flushed. */
  async onModuleDestroy(): Promise<void> {
    await endsWithin(STOP_LIMIT_MS, Promise.allSettled(this.sending));
  }

  /** Emits the trace of an ended job in the background. Never throws; the sweep retries. */
  endedSoon(jobId: string): void {
    const run: Promise<void> = this.send(jobId)
      .catch((error: Error) => {
        this.logger.warn(`trace of ${jobId} postponed: ${error.message}`);
      })
      .finally(() => this.sending.delete(run));
    this.sending.add(run);
  }

  /** Emits overdue traces. */
  async sweep(): Promise<void> {
    const { rows } = await this.database.background.query<{ id: string }>(
      `SELECT id FROM jobs WHERE ${TRACE_DUE} ORDER BY completed_at LIMIT $1`,
      [MAX_ROWS],
    );
    for (const { id } of rows) await this.send(id);
  }

  private async send(jobId: string): Promise<void> {
    // Clearing the flag claims the trace, so exactly one process emits it.
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
      this.logger.error(`trace of ${jobId} lost: ${reasonOf(error)}`);
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

/** Adds `trace` back, which is stored apart from the vendor's body. */
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
