import { Injectable, Logger } from '@nestjs/common';
import { ArtifactStore } from './artifacts/artifact-store.js';
import { Database } from '../../platform/database/database.js';
import { fromStoredText, toStoredText } from '../../platform/database/stored-text.js';
import type { MediaFile } from '../../vendors/media-work.js';
import { reasonOf } from './job-failure.js';
import { newArtifactId, type JobModality } from './job.js';

const MEGABYTE = 1_000_000;
/** Maximum size of one file. */
const LIMIT_BYTES: Readonly<Record<JobModality, number>> = {
  image: 50 * MEGABYTE,
  video: 1_000 * MEGABYTE,
  audio: 500 * MEGABYTE,
};
const MAX_CONTENT_TYPE_LENGTH = 100;
/** How long files outlive the deadline of a job that did not adopt them. */
const GRACE_SECONDS = 3_600;
const REMOVED_AT_ONCE = 100;
/** SQL condition for files due for removal. */
export const REMOVAL_DUE = 'removed_at IS NULL AND remove_after <= now()';

/** A readable artifact. */
export interface ServableArtifact {
  readonly tenantId: string;
  readonly contentType: string;
  readonly bytes: number;
}

interface AccessRow {
  tenantId: string;
  contentType: string;
  bytes: number;
  isOpen: boolean;
}

/**
 * Records files of jobs before they are written, serves them until they expire, and removes them.
 */
@Injectable()
export class JobArtifacts {
  private readonly logger = new Logger(JobArtifacts.name);

  constructor(
    private readonly database: Database,
    private readonly store: ArtifactStore,
  ) {}

  /**
   * Stores a job's files, all or none. Returns their ids in order.
   * @throws UpstreamError when a file is interrupted, Error when the store fails
   */
  async keep(
    job: { id: string; modality: JobModality; deadlineAt: Date },
    files: readonly MediaFile[],
  ): Promise<string[]> {
    const ids: string[] = [];
    try {
      for (const [position, file] of files.entries()) {
        const id = newArtifactId(job.id, position);
        ids.push(id);
        await this.database.background.query(
          `INSERT INTO job_artifacts (id, job_id, position, content_type, remove_after)
           VALUES ($1, $2, $3, $4, $5::timestamptz + make_interval(secs => $6))`,
          [
            id,
            job.id,
            position,
            toStoredText(file.contentType.slice(0, MAX_CONTENT_TYPE_LENGTH)),
            job.deadlineAt,
            GRACE_SECONDS,
          ],
        );
        const { bytes } = await this.store.put(
          id,
          file.contentType,
          file.bytes,
          LIMIT_BYTES[job.modality],
        );
        await this.database.background.query('UPDATE job_artifacts SET bytes = $2 WHERE id = $1', [
          id,
          bytes,
        ]);
      }
      return ids;
    } catch (error) {
      // The last file may not have been read, if the store rejected it.
      const unread = files.slice(Math.max(0, ids.length - 1));
      await Promise.allSettled([...unread.map(leave), this.discard(ids)]);
      throw error;
    }
  }

  /** Removes unneeded files. Failures are left to the sweep. */
  async discard(ids: readonly string[]): Promise<void> {
    for (const id of ids) {
      try {
        await this.store.remove(id);
        await this.database.background.query(
          'UPDATE job_artifacts SET removed_at = now() WHERE id = $1',
          [id],
        );
      } catch (error) {
        this.logger.warn(`file removal postponed: ${reasonOf(error)}`);
      }
    }
  }

  /** Removes expired files and returns their number. */
  async sweep(): Promise<number> {
    const { rows } = await this.database.background.query<{ id: string }>(
      `UPDATE job_artifacts SET remove_after = now() + interval '1 minute'
       WHERE id IN (
         SELECT id FROM job_artifacts WHERE ${REMOVAL_DUE}
         ORDER BY remove_after LIMIT $1 FOR UPDATE SKIP LOCKED
       ) RETURNING id`,
      [REMOVED_AT_ONCE],
    );
    await this.discard(rows.map(({ id }) => id));
    return rows.length;
  }

  /** Returns `expired` for a file that exists but must not be served. */
  async lookUp(artifactId: string): Promise<'unknown' | 'expired' | ServableArtifact> {
    const { rows } = await this.database.query<AccessRow>(
      `SELECT tenant_id AS "tenantId", file.content_type AS "contentType", file.bytes,
         status = 'succeeded' AND expires_at > now() AND removed_at IS NULL AS "isOpen"
       FROM job_artifacts AS file JOIN jobs ON jobs.id = file.job_id
       WHERE file.id = $1 AND kept`,
      [artifactId],
    );
    const [row] = rows;
    if (!row) return 'unknown';
    if (!row.isOpen) return 'expired';
    const { tenantId, bytes } = row;
    return { tenantId, contentType: fromStoredText(row.contentType), bytes };
  }

  /**
   * Records that the first byte, or a redirect, is about to be sent. Called for every response.
   * @returns false when the job was refunded since the lookup; the file must not be sent then
   */
  async fetched(artifactId: string): Promise<boolean> {
    const ofJob = 'WHERE id = (SELECT job_id FROM job_artifacts WHERE id = $1)';
    const { rowCount } = await this.database.query(
      `UPDATE jobs SET fetched_at = now() ${ofJob} AND fetched_at IS NULL AND status = 'succeeded'`,
      [artifactId],
    );
    if (rowCount === 1) return true;
    const { rows } = await this.database.query<{ isCharged: boolean }>(
      `SELECT status = 'succeeded' AS "isCharged" FROM jobs ${ofJob}`,
      [artifactId],
    );
    return rows[0]?.isCharged === true;
  }
}

/** Closes the connection of an unread file. */
async function leave({ bytes }: MediaFile): Promise<void> {
  await bytes[Symbol.asyncIterator]().return?.();
}
