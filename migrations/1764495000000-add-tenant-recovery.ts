import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Which routes resume interrupted answers of requests without the option; null: none. */
export class AddTenantRecovery1764495000000 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      ALTER TABLE tenants ADD COLUMN recovery text CHECK (recovery IN ('off', 'continue', 'any'))`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`ALTER TABLE tenants DROP COLUMN recovery`);
  }
}
