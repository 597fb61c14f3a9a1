import type { MigrationInterface, QueryRunner } from 'typeorm';

const RULES = {
  before: {
    ledger_entries_kind_check: `kind IN ('grant', 'charge', 'shortfall', 'refund')`,
    ledger_entries_check: `CASE kind WHEN 'charge' THEN amount < 0 ELSE amount > 0 END`,
  },
  after: {
    ledger_entries_kind_check: `kind IN ('grant', 'correction', 'charge', 'shortfall', 'refund')`,
    ledger_entries_check: `CASE kind
      WHEN 'charge' THEN amount < 0 WHEN 'correction' THEN amount <> 0 ELSE amount > 0 END`,
  },
};

/**
 * Suspended and deleted tenants, balance corrections, memos, idempotent money requests, and paused
 * routes (docs/decisions/0044).
 */
export class OperateTenants1764410000000 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    // erased_at: when the last log row of a deleted tenant was anonymized.
    await queryRunner.query(
      `ALTER TABLE tenants ADD COLUMN suspended_at timestamptz, ADD COLUMN deleted_at timestamptz,
         ADD COLUMN erased_at timestamptz`,
    );
    await queryRunner.query(
      `CREATE INDEX tenants_to_erase_idx ON tenants (deleted_at)
         WHERE deleted_at IS NOT NULL AND erased_at IS NULL`,
    );

    await queryRunner.query(`ALTER TABLE ledger_entries ADD COLUMN memo text`);
    // Existing rows satisfy the narrower constraints, so none is checked.
    for (const [name, rule] of Object.entries(RULES.after)) {
      await queryRunner.query(
        `ALTER TABLE ledger_entries DROP CONSTRAINT ${name}, ADD CONSTRAINT ${name} CHECK (${rule}) NOT VALID`,
      );
    }

    // answer: JSON stored as text, since a memo may contain what jsonb rejects; empty until the commit.
    await queryRunner.query(`
      CREATE TABLE ledger_idempotency_keys (
        tenant_id uuid NOT NULL,
        idempotency_key text NOT NULL,
        body_hash bytea NOT NULL,
        answer text NOT NULL DEFAULT '',
        created_at timestamptz NOT NULL DEFAULT now(),
        PRIMARY KEY (tenant_id, idempotency_key)
      )`);

    // model: an alias or a catalogue row; null: the whole provider.
    await queryRunner.query(`
      CREATE TABLE route_pauses (
        provider text NOT NULL,
        model text,
        reason text NOT NULL,
        paused_by text NOT NULL,
        paused_at timestamptz NOT NULL DEFAULT now(),
        paused_until timestamptz,
        CONSTRAINT route_pauses_key UNIQUE NULLS NOT DISTINCT (provider, model)
      )`);
  }

  /** Deleted tenants remain, without credits. Credits removed by corrections count as spent. */
  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`DROP TABLE route_pauses`);
    await queryRunner.query(`DROP TABLE ledger_idempotency_keys`);

    const entries = 'ledger_entries_before_months';
    await queryRunner.query(`ALTER TABLE ${entries} DISABLE TRIGGER USER`);
    await queryRunner.query(`
      UPDATE ${entries} SET kind = 'grant' WHERE kind = 'correction' AND amount > 0`);
    await queryRunner.query(`
      WITH taken AS (
        UPDATE ${entries} SET kind = 'charge' WHERE kind = 'correction'
        RETURNING tenant_id, amount, date_trunc('month', created_at AT TIME ZONE 'UTC')::date AS month
      ), months AS (
        INSERT INTO account_months AS account_month (tenant_id, month, spent)
        SELECT tenant_id, month, -sum(amount) FROM taken GROUP BY 1, 2
        ON CONFLICT (tenant_id, month) DO UPDATE SET spent = account_month.spent + excluded.spent
      )
      UPDATE accounts SET granted = granted - amount, spent = spent - amount
      FROM (SELECT tenant_id, sum(amount) AS amount FROM taken GROUP BY 1) AS sums
      WHERE accounts.tenant_id = sums.tenant_id`);
    await queryRunner.query(`ALTER TABLE ${entries} ENABLE TRIGGER USER`);
    for (const [name, rule] of Object.entries(RULES.before)) {
      await queryRunner.query(
        `ALTER TABLE ledger_entries DROP CONSTRAINT ${name}, ADD CONSTRAINT ${name} CHECK (${rule})`,
      );
    }
    await queryRunner.query(`ALTER TABLE ledger_entries DROP COLUMN memo`);

    await queryRunner.query(`DROP INDEX tenants_to_erase_idx`);
    await queryRunner.query(
      `ALTER TABLE tenants DROP COLUMN erased_at, DROP COLUMN deleted_at, DROP COLUMN suspended_at`,
    );
  }
}
