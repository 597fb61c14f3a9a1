import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Jobs and their files. The row is authoritative: the queue carries only ids. Has no foreign keys,
 * like other tables that requests write to.
 */
export class CreateJobs1764200000000 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    // Holds of jobs belong to no instance, so the sweep of dead instances leaves them alone.
    await queryRunner.query(`ALTER TABLE holds ALTER COLUMN instance_id DROP NOT NULL`);

    // step: known progress at the vendor. `submitting` is committed before the vendor is called,
    // so a job in this step without a live lease is never sent again.
    // run_at: when a worker next handles the job.
    // ended_by: which of several concurrent attempts ended the job.
    await queryRunner.query(`
      CREATE TABLE jobs (
        id text PRIMARY KEY,
        tenant_id uuid NOT NULL,
        api_key_id uuid NOT NULL,
        request_id uuid NOT NULL UNIQUE,
        endpoint text NOT NULL,
        modality text NOT NULL CHECK (modality IN ('image', 'video', 'audio')),
        model text NOT NULL,
        status text NOT NULL DEFAULT 'queued' CHECK (
          status IN ('queued', 'in_progress', 'succeeded', 'failed', 'cancelled', 'expired')
        ),
        body text NOT NULL,
        routes text NOT NULL,
        metadata text,
        webhook_url text,
        flagged boolean NOT NULL,
        idempotency_key text,
        body_hash bytea NOT NULL,
        step text NOT NULL DEFAULT 'waiting' CHECK (step IN ('waiting', 'submitting', 'accepted')),
        route_index integer NOT NULL DEFAULT 0,
        round integer NOT NULL DEFAULT 0,
        provider text,
        operation text,
        accepted_at timestamptz,
        polls integer NOT NULL DEFAULT 0,
        run_at timestamptz NOT NULL DEFAULT now(),
        lease_id uuid,
        lease_until timestamptz,
        reserved_credits bigint NOT NULL CHECK (reserved_credits >= 0),
        actual_cost bigint NOT NULL DEFAULT 0 CHECK (actual_cost >= 0),
        error text,
        usage text,
        ended_by uuid,
        webhook_due boolean NOT NULL DEFAULT false,
        cancel_due boolean NOT NULL DEFAULT false,
        cancel_attempts integer NOT NULL DEFAULT 0,
        created_at timestamptz NOT NULL,
        deadline_at timestamptz NOT NULL,
        completed_at timestamptz,
        expires_at timestamptz NOT NULL,
        fetched_at timestamptz
      )`);
    // Serves a page of a tenant's list from the index alone, with any filter.
    await queryRunner.query(
      `CREATE INDEX jobs_tenant_id_created_at_id_idx
         ON jobs (tenant_id, created_at DESC, id DESC) INCLUDE (status, modality, model)`,
    );
    await queryRunner.query(
      `CREATE UNIQUE INDEX jobs_tenant_id_idempotency_key_key
         ON jobs (tenant_id, idempotency_key) WHERE idempotency_key IS NOT NULL`,
    );
    // One partial index for each query of the sweeper.
    await queryRunner.query(
      `CREATE INDEX jobs_run_at_idx ON jobs (run_at) WHERE status IN ('queued', 'in_progress')`,
    );
    await queryRunner.query(
      `CREATE INDEX jobs_deadline_at_idx ON jobs (deadline_at)
         WHERE status IN ('queued', 'in_progress')`,
    );
    await queryRunner.query(
      `CREATE INDEX jobs_expires_at_idx ON jobs (expires_at)
         WHERE status = 'succeeded' AND fetched_at IS NULL`,
    );
    await queryRunner.query(
      `CREATE INDEX jobs_afterwards_idx ON jobs (run_at) WHERE webhook_due OR cancel_due`,
    );

    // Files are recorded before they are written, so that abandoned ones can be found.
    await queryRunner.query(`
      CREATE TABLE job_artifacts (
        id text PRIMARY KEY,
        job_id text NOT NULL,
        position integer NOT NULL,
        content_type text NOT NULL,
        bytes bigint NOT NULL DEFAULT 0,
        kept boolean NOT NULL DEFAULT false,
        remove_after timestamptz NOT NULL,
        removed_at timestamptz
      )`);
    await queryRunner.query(
      `CREATE INDEX job_artifacts_job_id_position_idx ON job_artifacts (job_id, position)`,
    );
    await queryRunner.query(
      `CREATE INDEX job_artifacts_remove_after_idx ON job_artifacts (remove_after)
         WHERE removed_at IS NULL`,
    );
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`DROP TABLE job_artifacts`);
    await queryRunner.query(`DROP TABLE jobs`);
    // Old code no longer ends the holds of jobs; they are swept as those of a dead instance.
    await queryRunner.query(
      `UPDATE holds SET instance_id = '00000000-0000-0000-0000-000000000000'
         WHERE instance_id IS NULL`,
    );
    await queryRunner.query(`ALTER TABLE holds ALTER COLUMN instance_id SET NOT NULL`);
  }
}
