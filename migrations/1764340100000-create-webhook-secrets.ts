import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Webhook secrets that somebody was told, encrypted; of tenants without a row nobody knows the one
 * that is derived from the service's own.
 */
export class CreateWebhookSecrets1764340100000 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      CREATE TABLE webhook_secrets (
        tenant_id uuid PRIMARY KEY REFERENCES tenants (id),
        sealed_secret bytea NOT NULL,
        sealed_previous bytea,
        previous_until timestamptz
      )`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`DROP TABLE webhook_secrets`);
  }
}
