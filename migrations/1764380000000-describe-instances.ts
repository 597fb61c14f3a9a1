import type { MigrationInterface, QueryRunner } from 'typeorm';

/** What the processes on this database say of themselves, and what all of them have to agree on. */
export class DescribeInstances1764380000000 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    // An instance of the version before says nothing.
    await queryRunner.query(`ALTER TABLE instances ADD COLUMN facts jsonb NOT NULL DEFAULT '{}'`);
    // secret_fingerprint: of the secret with which the values in this database are encrypted; null until
    // the first start. migrated_by: the version of the program that changed the schema last.
    await queryRunner.query(`
      CREATE TABLE installation (
        id boolean PRIMARY KEY DEFAULT true CHECK (id),
        secret_fingerprint text,
        migrated_by text
      )`);
    await queryRunner.query(`INSERT INTO installation DEFAULT VALUES`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`DROP TABLE installation`);
    await queryRunner.query(`ALTER TABLE instances DROP COLUMN facts`);
  }
}
