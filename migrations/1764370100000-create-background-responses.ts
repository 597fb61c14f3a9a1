import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Background responses in progress: the statement that stores the response deletes the row.
 * Cancelled responses are stored as well.
 */
export class CreateBackgroundResponses1764370100000 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    // body, context, caller: what a worker needs to answer on behalf of the caller.
    // run_at: when a worker next checks the row, without a wake-up.
    await queryRunner.query(`
      CREATE TABLE background_responses (
        id text PRIMARY KEY,
        tenant_id uuid NOT NULL,
        request_id uuid NOT NULL UNIQUE,
        status text NOT NULL DEFAULT 'queued' CHECK (status IN ('queued', 'in_progress')),
        response text NOT NULL,
        body text NOT NULL,
        context text NOT NULL,
        caller text NOT NULL,
        headers text NOT NULL,
        flagged boolean NOT NULL,
        reserved_credits bigint NOT NULL CHECK (reserved_credits >= 0),
        attempts integer NOT NULL DEFAULT 0,
        cancel_requested boolean NOT NULL DEFAULT false,
        run_at timestamptz NOT NULL DEFAULT now(),
        lease_id uuid,
        lease_until timestamptz,
        created_at timestamptz NOT NULL
      )`);
    // Each submission counts the open responses of its tenant.
    await queryRunner.query(
      `CREATE INDEX background_responses_tenant_id_idx ON background_responses (tenant_id)`,
    );
    await queryRunner.query(
      `CREATE INDEX background_responses_run_at_idx ON background_responses (run_at)`,
    );
    await queryRunner.query(
      `ALTER TABLE stored_responses DROP CONSTRAINT stored_responses_status_check`,
    );
    await queryRunner.query(
      `ALTER TABLE stored_responses ADD CONSTRAINT stored_responses_status_check
         CHECK (status IN ('completed', 'incomplete', 'failed', 'cancelled'))`,
    );
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`DELETE FROM stored_responses WHERE status = 'cancelled'`);
    await queryRunner.query(
      `ALTER TABLE stored_responses DROP CONSTRAINT stored_responses_status_check`,
    );
    await queryRunner.query(
      `ALTER TABLE stored_responses ADD CONSTRAINT stored_responses_status_check
         CHECK (status IN ('completed', 'incomplete', 'failed'))`,
    );
    await queryRunner.query(`DROP TABLE background_responses`);
  }
}
