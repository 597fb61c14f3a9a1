import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Archive files of the request log: months that were moved to a bucket. */
export class ArchiveRequestLogs1764385000000 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      CREATE TABLE archived_request_logs (
        key text PRIMARY KEY,
        month date NOT NULL,
        rows integer NOT NULL,
        bytes bigint NOT NULL,
        first_tenant_id uuid NOT NULL,
        first_request_id uuid NOT NULL,
        last_tenant_id uuid NOT NULL,
        last_request_id uuid NOT NULL,
        first_created_at timestamptz NOT NULL,
        last_created_at timestamptz NOT NULL,
        archived_at timestamptz NOT NULL DEFAULT now()
      )`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    // Dropping the table would lose the archived rows.
    await queryRunner.query(`
      DO $$ BEGIN
        IF EXISTS (SELECT FROM archived_request_logs) THEN
          RAISE EXCEPTION 'Months of the request log are archived: put them back into request_logs first';
        END IF;
      END $$`);
    await queryRunner.query(`DROP TABLE archived_request_logs`);
  }
}
