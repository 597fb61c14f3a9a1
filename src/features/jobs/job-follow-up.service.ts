import { Injectable, Logger } from '@nestjs/common';
import { ArtifactUrls } from './artifacts/artifact-urls.js';
import { scopeIsLive } from '../../core/access/scope.js';
import { Database } from '../../platform/database/database.js';
import { fromStoredText } from '../../platform/database/stored-text.js';
import { WebhookDeliveries } from '../../platform/outbound/webhook-deliveries.js';
import { RoutingService } from '../../core/routing/routing.service.js';
import { reasonOf } from './job-failure.js';
import { readRoutes, type JobRoute, JobCredentials, type StoredRoute } from './job-routes.js';
import { JobsRepository } from './jobs.repository.js';
import { renderJob } from './render-job.js';

interface DueWebhook {
  tenantId: string;
  url: string;
  scopeKeyId: string;
  isLive: boolean;
}

const MAX_CANCEL_ATTEMPTS = 5;

const CANCEL_LIMIT_MS = 15_000;

/**
 * Sends the webhook of an ended job and cancels its vendor operation. Both are flags in the row
 * until done, so another process can take over after a crash.
 */
@Injectable()
export class JobFollowUp {
  private readonly logger = new Logger(JobFollowUp.name);

  constructor(
    private readonly database: Database,
    private readonly repository: JobsRepository,
    private readonly routing: RoutingService,
    private readonly credentials: JobCredentials,
    private readonly urls: ArtifactUrls,
    private readonly webhooks: WebhookDeliveries,
  ) {}

  /** Runs in the background and never throws. The sweep retries failures. */
  runSoon(jobId: string): void {
    this.run(jobId).catch((error: Error) => {
      this.logger.warn(`follow-up of ${jobId} postponed: ${error.name}`);
    });
  }

  async run(jobId: string): Promise<void> {
    const { rows } = await this.database.background.query<{ tell: boolean; stop: boolean }>(
      `SELECT webhook_due AS tell, cancel_due AS stop FROM jobs
       WHERE id = $1 AND (webhook_due OR cancel_due)`,
      [jobId],
    );
    const [due] = rows;
    if (due?.tell) await this.tellTenant(jobId);
    if (due?.stop) await this.stopVendor(jobId);
  }

  /** Queues the webhook once per final state. */
  private async tellTenant(jobId: string): Promise<void> {
    const deliveryId = await this.database.background.transaction(async (client) => {
      const { rows } = await client.query<DueWebhook>(
        `UPDATE jobs SET webhook_due = false WHERE id = $1 AND webhook_due
         RETURNING tenant_id AS "tenantId", webhook_url AS url, api_key_id AS "scopeKeyId",
           ${scopeIsLive('api_key_id')} AS "isLive"`,
        [jobId],
      );
      const [due] = rows;
      // Webhooks stop with the key that requested them.
      const job = due?.isLive && (await this.repository.find(due.tenantId, jobId));
      if (!job) return undefined;
      const eventId = `${jobId}:${job.status}`;
      const body = JSON.stringify({
        id: eventId,
        type: `job.${job.status}`,
        created_at: Math.floor(Date.now() / 1_000),
        data: renderJob(job, (id, expiresAt) => this.urls.sign(id, expiresAt)),
      });
      const { tenantId, scopeKeyId } = due;
      const url = fromStoredText(due.url);
      return this.webhooks.enqueue(client, { tenantId, url, eventId, body, scopeKeyId });
    });
    if (deliveryId !== undefined) await this.webhooks.announce(deliveryId);
  }

  private async stopVendor(jobId: string): Promise<void> {
    const { rows } = await this.database.background.query<{
      tenantId: string;
      operation: string;
      routes: StoredRoute[];
      routeIndex: number;
      attempts: number;
    }>(
      `UPDATE jobs SET cancel_attempts = cancel_attempts + 1,
         run_at = now() + make_interval(secs => 10 * (cancel_attempts + 1))
       WHERE id = $1 AND cancel_due AND run_at <= now()
       RETURNING tenant_id AS "tenantId", operation, routes::json AS routes, route_index AS "routeIndex", cancel_attempts AS attempts`,
      [jobId],
    );
    const [due] = rows;
    if (!due) return;
    const route = readRoutes(due.routes)[due.routeIndex];
    const isStopped = route ? await this.stop(due.tenantId, route, due.operation) : true;
    if (!isStopped && due.attempts < MAX_CANCEL_ATTEMPTS) return;
    await this.database.background.query('UPDATE jobs SET cancel_due = false WHERE id = $1', [
      jobId,
    ]);
  }

  /** Cancels an accepted operation at the vendor. Returns false when the vendor did not answer. */
  async stop(tenantId: string, route: JobRoute, operation: string): Promise<boolean> {
    const { upstreamModel } = route;
    const limits = {
      firstByteMs: CANCEL_LIMIT_MS,
      idleMs: CANCEL_LIMIT_MS,
      requestMs: CANCEL_LIMIT_MS,
    };
    try {
      const open = await this.credentials.open(tenantId, route);
      const upstream = open && this.routing.upstreamOf(open);
      const signal = new AbortController().signal;
      await upstream?.cancelMedia?.({ operation, upstreamModel, limits, signal });
      return true;
    } catch (error) {
      this.logger.warn(`${route.provider} did not cancel an operation: ${reasonOf(error)}`);
      return false;
    }
  }
}
