import type { MigrationInterface, QueryRunner } from 'typeorm';

/** When a tenant deleted a video. Until the row expires, only account-wide lists show it. */
export class DeleteVideos1764360000000 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`ALTER TABLE jobs ADD COLUMN deleted_at timestamptz`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`ALTER TABLE jobs DROP COLUMN deleted_at`);
  }
}
