import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Each submission counts the open jobs of its tenant. */
export class IndexOpenJobs1764330000000 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(
      `CREATE INDEX jobs_open_idx ON jobs (tenant_id) WHERE status IN ('queued', 'in_progress')`,
    );
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`DROP INDEX jobs_open_idx`);
  }
}
