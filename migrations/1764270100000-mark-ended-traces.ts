import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Marks ended jobs whose trace is still to be sent, so that the trace survives the process that ended them. */
export class MarkEndedTraces1764270100000 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`ALTER TABLE jobs ADD COLUMN trace_due boolean NOT NULL DEFAULT false`);
    await queryRunner.query(
      `CREATE INDEX jobs_trace_due_idx ON jobs (completed_at) WHERE trace_due`,
    );
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`DROP INDEX jobs_trace_due_idx`);
    await queryRunner.query(`ALTER TABLE jobs DROP COLUMN trace_due`);
  }
}
