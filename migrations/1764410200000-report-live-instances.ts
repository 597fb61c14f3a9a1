import type { MigrationInterface, QueryRunner } from 'typeorm';

/** What a process says of its work with each heartbeat; one of the version before says nothing. */
export class ReportLiveInstances1764410200000 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`ALTER TABLE instances ADD COLUMN live jsonb NOT NULL DEFAULT '{}'`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`ALTER TABLE instances DROP COLUMN live`);
  }
}
