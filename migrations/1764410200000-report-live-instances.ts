import type { MigrationInterface, QueryRunner } from 'typeorm';

/** What an instance reports with each heartbeat; null for the previous version. */
export class ReportLiveInstances1764410200000 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`ALTER TABLE instances ADD COLUMN live jsonb NOT NULL DEFAULT '{}'`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`ALTER TABLE instances DROP COLUMN live`);
  }
}
