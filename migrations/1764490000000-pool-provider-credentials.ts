import type { MigrationInterface, QueryRunner } from 'typeorm';

/** How requests are distributed over a tenant's accounts with one provider; null: not set. */
export class PoolProviderCredentials1764490000000 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      ALTER TABLE provider_credentials
        ADD COLUMN weight integer CHECK (weight BETWEEN 1 AND 1000),
        ADD COLUMN requests_per_minute integer CHECK (requests_per_minute > 0),
        ADD COLUMN tokens_per_minute integer CHECK (tokens_per_minute > 0)`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      ALTER TABLE provider_credentials
        DROP COLUMN weight, DROP COLUMN requests_per_minute, DROP COLUMN tokens_per_minute`);
  }
}
