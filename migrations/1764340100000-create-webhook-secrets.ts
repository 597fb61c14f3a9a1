import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Webhook secrets that were disclosed to a tenant, encrypted. Tenants without a row use one derived
 * from the service's secret, which has not been disclosed.
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
