import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * BYOK accounts of tenants. The key is encrypted and bound to its row; settings contain no
 * secrets. Rows are immutable except for the last use: a new key is a new row.
 */
export class CreateProviderCredentials1764200200000 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      CREATE TABLE provider_credentials (
        id uuid PRIMARY KEY,
        tenant_id uuid NOT NULL REFERENCES tenants (id),
        provider text NOT NULL,
        name text,
        sealed_key bytea NOT NULL,
        key_preview text NOT NULL,
        settings jsonb NOT NULL,
        allow_shared_fallback boolean NOT NULL,
        created_at timestamptz NOT NULL DEFAULT now(),
        last_used_at timestamptz
      )`);
    await queryRunner.query(
      `CREATE INDEX provider_credentials_tenant_id_created_at_idx
         ON provider_credentials (tenant_id, created_at, id)`,
    );
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`DROP TABLE provider_credentials`);
  }
}
