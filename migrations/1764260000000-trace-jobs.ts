import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Data for the trace that a job sends at its end, and an index for old rows. */
export class TraceJobs1764260000000 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    // trace: JSON of the trace fields of the submission; NULL when no destination receives it.
    // attempts: JSON of the attempted routes, in order.
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
