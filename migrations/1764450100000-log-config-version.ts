import type { MigrationInterface, QueryRunner } from 'typeorm';
import { shortly } from './short-locks.js';

/** The configuration version that priced a request; NULL for older rows and without a version. */
export class LogConfigVersion1764450100000 implements MigrationInterface {
  readonly transaction = false;

  async up(queryRunner: QueryRunner): Promise<void> {
    await shortly(queryRunner, async () => {
      await queryRunner.query(
        `ALTER TABLE request_logs ADD COLUMN IF NOT EXISTS config_version integer`,
      );
    });
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`ALTER TABLE request_logs DROP COLUMN config_version`);
  }
}
