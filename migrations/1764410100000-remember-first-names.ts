import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * By which name a tenant was made, as a hash: what the settings declare at each start is found by it after the
 * tenant was renamed or deleted, and is not made anew.
 */
export class RememberFirstNames1764410100000 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`ALTER TABLE tenants ADD COLUMN first_name_hash bytea`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`ALTER TABLE tenants DROP COLUMN first_name_hash`);
  }
}
