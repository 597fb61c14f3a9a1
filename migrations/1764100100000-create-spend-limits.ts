import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Monthly spend limits of tenants and keys. `account_months` already has the tenants' spend. A
 * trigger in the settlement's transaction records that of keys, and only of keys with a limit.
 */
export class CreateSpendLimits1764100100000 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    for (const table of ['tenants', 'api_keys']) {
      await queryRunner.query(
        `ALTER TABLE ${table} ADD COLUMN monthly_spend_limit bigint
           CONSTRAINT ${table}_monthly_spend_limit_check CHECK (monthly_spend_limit >= 0)`,
      );
    }

    await queryRunner.query(`
      CREATE TABLE key_months (
        api_key_id uuid NOT NULL REFERENCES api_keys (id),
        month date NOT NULL,
        spent bigint NOT NULL,
        PRIMARY KEY (api_key_id, month)
      )`);
    await queryRunner.query(`
      CREATE FUNCTION count_key_month() RETURNS trigger LANGUAGE plpgsql AS $$
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

    // Open holds that count against their key's limit. A row outlives its hold until the key's
    // next request.
    await queryRunner.query(`
      CREATE TABLE key_holds (
        api_key_id uuid NOT NULL,
        request_id uuid NOT NULL,
        PRIMARY KEY (api_key_id, request_id)
      )`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`DROP TABLE key_holds`);
    await queryRunner.query(`DROP TRIGGER api_keys_count_key_month ON api_keys`);
    await queryRunner.query(`DROP FUNCTION count_key_month`);
    await queryRunner.query(`DROP TABLE key_months`);
    for (const table of ['api_keys', 'tenants']) {
      await queryRunner.query(`ALTER TABLE ${table} DROP COLUMN monthly_spend_limit`);
    }
  }
}
