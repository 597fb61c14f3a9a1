import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * A hash of the name under which a tenant was created. Finds a tenant from the bootstrap settings after
 * it was renamed or deleted, so that the next start does not create it again.
 */
export class RememberFirstNames1764410100000 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`ALTER TABLE tenants ADD COLUMN first_name_hash bytea`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`ALTER TABLE tenants DROP COLUMN first_name_hash`);
  }
}
