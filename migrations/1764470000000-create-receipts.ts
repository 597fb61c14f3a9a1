import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The prices that requests were charged at, their usage besides tokens, and the keys that sign receipts. */
export class CreateReceipts1764470000000 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      CREATE TABLE price_sheets (
        id uuid PRIMARY KEY,
        sheet jsonb NOT NULL,
        first_used_at timestamptz NOT NULL DEFAULT now()
      )`);
    await queryRunner.query(`
      ALTER TABLE request_logs
        ADD COLUMN price_sheet uuid,
        ADD COLUMN other_usage text`);
    await queryRunner.query(`
      CREATE TABLE signing_keys (
        id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
        public_key text NOT NULL,
        sealed_key bytea,
        created_at timestamptz NOT NULL DEFAULT now(),
        retired_at timestamptz,
        CHECK ((sealed_key IS NULL) = (retired_at IS NOT NULL))
      )`);
    await queryRunner.query(`
      CREATE UNIQUE INDEX signing_keys_current ON signing_keys ((true)) WHERE retired_at IS NULL`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`DROP TABLE signing_keys`);
    await queryRunner.query(
      `ALTER TABLE request_logs DROP COLUMN price_sheet, DROP COLUMN other_usage`,
    );
    await queryRunner.query(`DROP TABLE price_sheets`);
  }
}
