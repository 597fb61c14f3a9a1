import type { MigrationInterface, QueryRunner } from 'typeorm';

/** What the trace of a job is made of at its end, and a way to the rows that have been kept for long. */
export class TraceJobs1764260000000 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    // trace: JSON of what the submission said of its trace; NULL when nobody wants one.
    // attempts: JSON of the routes that were tried, in order.
    await queryRunner.query(
      `ALTER TABLE jobs ADD COLUMN trace text, ADD COLUMN attempts text NOT NULL DEFAULT '[]'`,
    );
    await queryRunner.query(
      `CREATE INDEX jobs_completed_at_idx ON jobs (completed_at) WHERE completed_at IS NOT NULL`,
    );
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`DROP INDEX jobs_completed_at_idx`);
    await queryRunner.query(`ALTER TABLE jobs DROP COLUMN attempts, DROP COLUMN trace`);
  }
}
