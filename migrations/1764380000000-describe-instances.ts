import type { MigrationInterface, QueryRunner } from 'typeorm';

/** How instances on this database describe themselves, and the settings on which they must agree. */
export class DescribeInstances1764380000000 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    // Null for instances of the previous version.
    await queryRunner.query(`ALTER TABLE instances ADD COLUMN facts jsonb NOT NULL DEFAULT '{}'`);
    // secret_fingerprint: of the secret that encrypts values in this database; null until the first
    // start. migrated_by: the version that last changed the schema.
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
