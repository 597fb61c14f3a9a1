import type { MigrationInterface, QueryRunner } from 'typeorm';

/** When a tenant deleted a video; until its row goes with all others, only lists for the account show it. */
export class DeleteVideos1764360000000 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`ALTER TABLE jobs ADD COLUMN deleted_at timestamptz`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`ALTER TABLE jobs DROP COLUMN deleted_at`);
  }
}
