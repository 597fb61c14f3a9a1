import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Results of the last check of price ages and of a public price list: one row, which also says which instance checks next. */
export class CreatePriceChecks1764510000000 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      CREATE TABLE price_checks (
        is_only boolean PRIMARY KEY DEFAULT true CHECK (is_only),
        begun_at timestamptz NOT NULL DEFAULT '-infinity',
        checked_at timestamptz NOT NULL DEFAULT '-infinity',
        -- Names the catalogue and the list that were looked at.
        subject text NOT NULL DEFAULT '',
        findings jsonb NOT NULL DEFAULT '{}'
      )`);
    await queryRunner.query(`INSERT INTO price_checks DEFAULT VALUES`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`DROP TABLE price_checks`);
  }
}
