import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { IsNull, Repository } from 'typeorm';
import type { Pool, PoolClient } from 'pg';
import type { RequestTags } from '../../canonical/request-tags.js';
import { Database } from '../../platform/database/database.js';
import { fromStoredText, toStoredText } from '../../platform/database/stored-text.js';
import { JobEntity } from './job.entity.js';
import type { EndableJob, JobFailure, JobListRow, JobModality, JobStatus, JobView } from './job.js';

/** A new job. */
export interface NewJob {
  readonly id: string;
  readonly tenantId: string;
  readonly apiKeyId: string;
  readonly requestId: string;
  readonly endpoint: string;
  readonly modality: JobModality;
  readonly model: string;
  /** JSON. */
  readonly body: string;
  /** JSON. */
  readonly routes: string;
  readonly metadata: Readonly<Record<string, string>> | null;
  readonly webhookUrl: string | undefined;
  readonly isFlagged: boolean;
  readonly endUser: string | undefined;
  readonly tags: RequestTags | undefined;
  /** JSON; null when the job is not traced. */
  readonly trace: string | null;
  readonly idempotencyKey: string | undefined;
  readonly bodyHash: Buffer;
  readonly reservedCredits: number;
  readonly createdAt: Date;
  readonly deadlineSeconds: number;
}

/** Filters of the job list. Undefined matches all. */
export interface JobFilters {
  readonly modality?: JobModality;
  readonly status?: JobStatus;
  /** Exact alias. */
  readonly model?: string;
  /** Inclusive. */
  readonly start?: Date;
  /** Exclusive. */
  readonly end?: Date;
}

/** Columns needed to end a job. */
export const ENDABLE = `id, tenant_id AS "tenantId", api_key_id AS "apiKeyId",
  request_id AS "requestId", endpoint, modality, routes::json AS routes, route_index AS "routeIndex", flagged,
  trace IS NOT NULL AS "isTraced", accepted_at AS "acceptedAt", created_at AS "createdAt",
  end_user AS "storedEndUser", tags, attempts::json AS "knownAttempts"`;

const VIEW = `
  SELECT id, request_id AS "requestId", tenant_id AS "tenantId", endpoint,
    CASE WHEN endpoint = 'videos' THEN body::json END AS body, modality, model, status, provider,
    metadata::json AS metadata, error::json AS error, usage::json AS usage,
    reserved_credits AS "reservedCredits", actual_cost AS "actualCost", created_at AS "createdAt",
    completed_at AS "completedAt", expires_at AS "expiresAt", deleted_at IS NOT NULL AS "isDeleted",
    CASE WHEN status = 'succeeded' THEN coalesce((
      SELECT json_agg(json_build_object('id', file.id, 'contentType', file.content_type,
        'bytes', file.bytes) ORDER BY position)
      FROM job_artifacts AS file WHERE file.job_id = jobs.id AND kept
    ), '[]'::json) ELSE '[]'::json END AS artifacts
  FROM jobs`;

/**
 * Reads and creates jobs for tenants. Every method except `findEnding` is limited to one tenant.
 */
@Injectable()
export class JobsRepository {
  constructor(
    @InjectRepository(JobEntity) private readonly jobs: Repository<JobEntity>,
    private readonly database: Database,
  ) {}

  /** @throws Error with SQLSTATE 23505 when the tenant has a job with this idempotency key */
  async insert(
    client: PoolClient,
    { isFlagged: flagged, metadata, deadlineSeconds, ...job }: NewJob,
  ): Promise<void> {
    const deadlineAt = new Date(job.createdAt.getTime() + deadlineSeconds * 1_000);
    await this.database.within(client, this.jobs).insert({
      ...{ ...job, flagged, deadlineAt, expiresAt: deadlineAt },
      metadata: metadata && JSON.stringify(metadata),
    });
  }

  /** Makes concurrent requests with the same key wait for the end of the transaction. */
  async lockIdempotencyKey(client: PoolClient, tenantId: string, key: string): Promise<void> {
    await client.query('SELECT pg_advisory_xact_lock(hashtextextended($1, 0))', [
      toStoredText(`jobs ${tenantId} ${key}`),
    ]);
  }

  /** Returns the job created with an idempotency key. */
  async findByIdempotencyKey(
    client: Pool | PoolClient,
    tenantId: string,
    key: string,
  ): Promise<{ id: string; bodyHash: Buffer } | undefined> {
    const jobs = this.database.within(client, this.jobs);
    const select = { id: true, bodyHash: true };
    const where = { tenantId, idempotencyKey: key };
    return (await jobs.findOne({ select, where })) ?? undefined;
  }

  hasRequest(requestId: string): Promise<boolean> {
    return this.jobs.existsBy({ requestId });
  }

  /**
   * Finds a job, also a deleted one.
   *
   * @param keyId only jobs of this key or its descendants; undefined: any key
   */
  async find(tenantId: string, id: string, keyId?: string): Promise<JobView | undefined> {
    const { rows } = await this.database.query<JobView>(
      `${VIEW} WHERE id = $1 AND tenant_id = $2 AND ${ofKey('$3')}`,
      [id, tenantId, keyId ?? null],
    );
    return rows.map(toView)[0];
  }

  /** Lists jobs of the videos API. @param page.after id of the last job on the previous page */
  async listVideos(
    tenantId: string,
    { limit, order, after, keyId }: VideoPage,
  ): Promise<JobView[]> {
    const [beyond, direction] = order === 'asc' ? ['>', 'ASC'] : ['<', 'DESC'];
    const { rows } = await this.database.query<JobView>(
      `${VIEW} WHERE tenant_id = $1 AND endpoint = 'videos' AND deleted_at IS NULL
         AND ${ofKey('$4')}
         AND ($2::text IS NULL OR (created_at, id) ${beyond} (
           SELECT last.created_at, last.id FROM jobs AS last WHERE last.id = $2 AND last.tenant_id = $1
         ))
       ORDER BY created_at ${direction}, id ${direction} LIMIT $3`,
      [tenantId, after ?? null, limit, keyId ?? null],
    );
    return rows.map(toView);
  }

  /**
   * Lists jobs with their files, newest first, including deleted ones.
   * @param page.after the last job on the previous page
   */
  async listViews(
    tenantId: string,
    filters: JobFilters,
    { limit, after }: { limit: number; after: { at: string; id: string } | undefined },
  ): Promise<JobView[]> {
    const { conditions, values } = conditionsOf(tenantId, filters);
    if (after) {
      const [at, id] = [values.push(after.at), values.push(after.id)];
      // Cursors have millisecond precision, like `created_at`.
      conditions.push(`(created_at, id) < ($${at}::timestamptz, $${id}::text)`);
    }
    const { rows } = await this.database.query<JobView>(
      // The page is read from the index alone; only its rows are fetched.
      `${VIEW} WHERE id IN (
         SELECT id FROM jobs WHERE ${conditions.join(' AND ')}
         ORDER BY created_at DESC, id DESC LIMIT $${values.push(limit)}
       ) ORDER BY created_at DESC, id DESC`,
      values,
    );
    return rows.map(toView);
  }

  async markDeleted(tenantId: string, id: string): Promise<void> {
    const open = { id, tenantId, deletedAt: IsNull() };
    await this.jobs.update(open, { deletedAt: () => 'now()' });
  }

  /** Returns ids of all files of a job, stored or not. */
  async artifactsOf(tenantId: string, id: string): Promise<string[]> {
    const { rows } = await this.database.query<{ id: string }>(
      `SELECT file.id FROM job_artifacts AS file JOIN jobs ON jobs.id = file.job_id
        WHERE jobs.id = $1 AND tenant_id = $2 AND removed_at IS NULL`,
      [id, tenantId],
    );
    return rows.map((row) => row.id);
  }

  async findEndable(tenantId: string, id: string): Promise<EndableJob | undefined> {
    const { rows } = await this.database.query<EndableJob>(
      `SELECT ${ENDABLE} FROM jobs WHERE id = $1 AND tenant_id = $2`,
      [id, tenantId],
    );
    return rows[0];
  }

  /** Returns a job's status and the attempt that ended it. */
  async findEnding(id: string): Promise<{ status: JobStatus; endedBy: string | null }> {
    const select = { id: true, status: true, endedBy: true };
    return this.jobs.findOneOrFail({ select, where: { id } });
  }

  /** Lists jobs, newest first. */
  async list(
    tenantId: string,
    filters: JobFilters,
    page: { limit: number; offset: number },
  ): Promise<JobListRow[]> {
    const { conditions, values } = conditionsOf(tenantId, filters);
    values.push(page.limit, page.offset);
    // The page is read from the index alone; only its rows are fetched.
    const { rows } = await this.database.query<JobListRow & { error: JobFailure | null }>(
      `SELECT jobs.id, modality, model, status, jobs.created_at AS "createdAt",
         actual_cost AS "actualCost", reserved_credits AS "reservedCredits", error::json AS error,
         expires_at AS "expiresAt"
       FROM (
         SELECT id, created_at FROM jobs WHERE ${conditions.join(' AND ')}
         ORDER BY created_at DESC, id DESC
         LIMIT $${values.length - 1} OFFSET $${values.length}
       ) AS page JOIN jobs ON jobs.id = page.id
       ORDER BY page.created_at DESC, page.id DESC`,
      values,
    );
    return rows.map(({ error, ...row }) => ({
      ...row,
      model: fromStoredText(row.model),
      errorMessage: error && error.message,
    }));
  }
}

/** SQL condition: the job belongs to this key or a descendant; null matches any key. */
function ofKey(parameter: string): string {
  return `(${parameter}::uuid IS NULL OR api_key_id IN (
    SELECT key.id FROM api_keys key WHERE key.id = ${parameter} OR ${parameter} = ANY (key.ancestor_ids)))`;
}

interface VideoPage {
  limit: number;
  order: 'asc' | 'desc';
  after?: string | undefined;
  /** See `find`. */
  keyId?: string | undefined;
}

function toView(row: JobView): JobView {
  return { ...row, model: fromStoredText(row.model) };
}

function conditionsOf(
  tenantId: string,
  { modality, status, model, start, end }: JobFilters,
): { conditions: string[]; values: unknown[] } {
  const values: unknown[] = [tenantId];
  const conditions = ['tenant_id = $1'];
  const restrict = (condition: string, value: unknown): void => {
    if (value === undefined) return;
    values.push(value);
    conditions.push(`${condition} $${values.length}`);
  };
  restrict('modality =', modality);
  restrict('status =', status);
  restrict('model =', model === undefined ? undefined : toStoredText(model));
  restrict('created_at >=', start);
  restrict('created_at <', end);
  return { conditions, values };
}
