import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Responses that are made in the background, for as long as they are: the row goes in the statement that
 * keeps the response. One that was cancelled is kept as well.
 */
export class CreateBackgroundResponses1764370100000 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    // body, context, caller: what a worker needs to answer in the caller's place.
    // run_at: when a worker is to look next, where no wake-up has come.
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
    // A tenant's open ones are counted with each that it submits.
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
