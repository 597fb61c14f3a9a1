import type { MigrationInterface, QueryRunner } from 'typeorm';

const TABLES = ['guardrails', 'broadcast_destinations', 'provider_credentials'];

/**
 * Records creators of rows, and the ancestors of a key (docs/decisions/0021). Existing keys count as
 * created by a management key; so do other rows if the tenant has a management key to change them with.
 */
export class ShareKeysLimits1764340000000 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    for (const table of ['api_keys', ...TABLES]) {
      await queryRunner.query(
        `ALTER TABLE ${table} ADD COLUMN made_by text NOT NULL DEFAULT 'management'
           CONSTRAINT ${table}_made_by_check CHECK (made_by IN ('operator', 'management', 'routing'))`,
      );
    }
    for (const table of TABLES) {
      await queryRunner.query(
        `UPDATE ${table} SET made_by = 'routing' WHERE NOT EXISTS (
           SELECT FROM api_keys WHERE api_keys.tenant_id = ${table}.tenant_id
             AND type = 'management' AND revoked_at IS NULL
             AND (expires_at IS NULL OR expires_at > now())
         )`,
      );
    }
    // Nearest ancestor first, root last. Key rows are never deleted.
    await queryRunner.query(
      `ALTER TABLE api_keys ADD COLUMN ancestor_ids uuid[] NOT NULL DEFAULT '{}'`,
    );
    await queryRunner.query(`DROP TRIGGER api_keys_count_key_month ON api_keys`);
    await queryRunner.query(`
      CREATE OR REPLACE FUNCTION count_key_month() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN
        INSERT INTO key_months AS key_month (api_key_id, month, spent)
        SELECT id, date_trunc('month', now() AT TIME ZONE 'UTC')::date,
          NEW.total_spend - OLD.total_spend
        FROM api_keys
        WHERE id = ANY (NEW.ancestor_ids || NEW.id) AND monthly_spend_limit IS NOT NULL
        ON CONFLICT (api_key_id, month) DO UPDATE SET spent = key_month.spent + excluded.spent;
        RETURN NULL;
      END $$`);
    await queryRunner.query(`
      CREATE TRIGGER api_keys_count_key_month
        AFTER UPDATE OF total_spend ON api_keys
        FOR EACH ROW
        WHEN (NEW.total_spend <> OLD.total_spend
          AND (NEW.monthly_spend_limit IS NOT NULL OR NEW.ancestor_ids <> '{}'))
        EXECUTE FUNCTION count_key_month()`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`DROP TRIGGER api_keys_count_key_month ON api_keys`);
    await queryRunner.query(`
      CREATE OR REPLACE FUNCTION count_key_month() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN
        INSERT INTO key_months AS key_month (api_key_id, month, spent) VALUES (
          NEW.id, date_trunc('month', now() AT TIME ZONE 'UTC')::date,
          NEW.total_spend - OLD.total_spend
        )
        ON CONFLICT (api_key_id, month) DO UPDATE SET spent = key_month.spent + excluded.spent;
        RETURN NULL;
      END $$`);
    await queryRunner.query(`
      CREATE TRIGGER api_keys_count_key_month
        AFTER UPDATE OF total_spend ON api_keys
        FOR EACH ROW
        WHEN (NEW.monthly_spend_limit IS NOT NULL AND NEW.total_spend <> OLD.total_spend)
        EXECUTE FUNCTION count_key_month()`);
    await queryRunner.query(`ALTER TABLE api_keys DROP COLUMN ancestor_ids`);
    for (const table of ['api_keys', ...TABLES]) {
      await queryRunner.query(`ALTER TABLE ${table} DROP COLUMN made_by`);
    }
  }
}
