import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Lists a tenant's webhooks, newest first. */
export class IndexWebhooksByTenant1764485000000 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(
      `CREATE INDEX webhook_deliveries_tenant_id_created_at_idx
         ON webhook_deliveries (tenant_id, created_at, id)`,
    );
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`DROP INDEX webhook_deliveries_tenant_id_created_at_idx`);
  }
}
