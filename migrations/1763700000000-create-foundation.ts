import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Tenants, keys, the ledger and the request log.
 *
 * The hot tables (holds, request_logs, ledger_entries) have no foreign keys: each would take a
 * share lock on the tenant's row per insert, and tenants and keys are never deleted.
 */
export class CreateFoundation1763700000000 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      CREATE TABLE tenants (
        id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
        name text NOT NULL UNIQUE,
        created_at timestamptz NOT NULL DEFAULT now()
      )`);

    await queryRunner.query(`
      CREATE TABLE api_keys (
        id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
        tenant_id uuid NOT NULL REFERENCES tenants (id),
        type text NOT NULL CHECK (type IN ('routing', 'management')),
        name text NOT NULL,
        key_hash bytea NOT NULL UNIQUE,
        key_preview text NOT NULL,
        rate_limit_per_minute integer NOT NULL CHECK (rate_limit_per_minute > 0),
        expires_at timestamptz,
        revoked_at timestamptz,
        request_count bigint NOT NULL DEFAULT 0,
        total_spend bigint NOT NULL DEFAULT 0,
        last_used_at timestamptz,
        created_at timestamptz NOT NULL DEFAULT now(),
        updated_at timestamptz NOT NULL DEFAULT now()
      )`);
    await queryRunner.query(
      `CREATE INDEX api_keys_tenant_id_created_at_idx ON api_keys (tenant_id, created_at, id)`,
    );

    // balance = sum of the tenant's ledger entries; held = sum of its open holds.
    await queryRunner.query(`
      CREATE TABLE accounts (
        tenant_id uuid PRIMARY KEY REFERENCES tenants (id),
        balance bigint NOT NULL DEFAULT 0 CHECK (balance >= 0),
        held bigint NOT NULL DEFAULT 0 CHECK (held >= 0),
        granted bigint NOT NULL DEFAULT 0 CHECK (granted >= 0),
        spent bigint NOT NULL DEFAULT 0 CHECK (spent >= 0),
        request_count bigint NOT NULL DEFAULT 0,
        CONSTRAINT accounts_held_within_balance CHECK (held <= balance)
      )`);

    // Running totals of a calendar month (UTC), so that reports don't sum the log.
    await queryRunner.query(`
      CREATE TABLE account_months (
        tenant_id uuid NOT NULL REFERENCES tenants (id),
        month date NOT NULL,
        spent bigint NOT NULL DEFAULT 0,
        request_count bigint NOT NULL DEFAULT 0,
        PRIMARY KEY (tenant_id, month)
      )`);

    await queryRunner.query(`
      CREATE TABLE ledger_entries (
        id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        tenant_id uuid NOT NULL,
        kind text NOT NULL CHECK (kind IN ('grant', 'charge', 'shortfall', 'refund')),
        amount bigint NOT NULL CHECK (
          CASE kind WHEN 'charge' THEN amount < 0 ELSE amount > 0 END
        ),
        request_id uuid,
        created_at timestamptz NOT NULL DEFAULT now()
      )`);
    await queryRunner.query(
      `CREATE INDEX ledger_entries_tenant_id_created_at_idx ON ledger_entries (tenant_id, created_at, id)`,
    );
    // A request is charged once and refunded at most once, even if the process crashes in between.
    await queryRunner.query(
      `CREATE UNIQUE INDEX ledger_entries_request_id_kind_key
         ON ledger_entries (request_id, kind) WHERE request_id IS NOT NULL`,
    );
    await queryRunner.query(`
      CREATE FUNCTION refuse_ledger_change() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN
        RAISE EXCEPTION 'ledger entries are append-only' USING ERRCODE = 'integrity_constraint_violation';
      END $$`);
    await queryRunner.query(`
      CREATE TRIGGER ledger_entries_append_only
        BEFORE UPDATE OR DELETE OR TRUNCATE ON ledger_entries
        FOR EACH STATEMENT EXECUTE FUNCTION refuse_ledger_change()`);

    await queryRunner.query(`
      CREATE TABLE instances (
        id uuid PRIMARY KEY,
        started_at timestamptz NOT NULL DEFAULT now(),
        heartbeat_at timestamptz NOT NULL DEFAULT now()
      )`);

    // Open holds only: a settled or released hold is deleted in the transaction that ends it. The
    // columns after amount fill the log row of a crashed request.
    await queryRunner.query(`
      CREATE TABLE holds (
        request_id uuid PRIMARY KEY,
        tenant_id uuid NOT NULL,
        instance_id uuid NOT NULL,
        amount bigint NOT NULL CHECK (amount >= 0),
        api_key_id uuid NOT NULL,
        endpoint text NOT NULL,
        model text NOT NULL,
        provider text NOT NULL,
        streamed boolean NOT NULL,
        created_at timestamptz NOT NULL
      )`);
    await queryRunner.query(`CREATE INDEX holds_instance_id_idx ON holds (instance_id)`);

    await queryRunner.query(`
      CREATE TABLE request_logs (
        id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        request_id uuid NOT NULL UNIQUE,
        tenant_id uuid NOT NULL,
        api_key_id uuid NOT NULL,
        endpoint text NOT NULL,
        model text NOT NULL,
        provider text NOT NULL,
        status text NOT NULL CHECK (status IN ('success', 'error')),
        outcome text NOT NULL CHECK (
          outcome IN ('completed', 'failed', 'cancelled', 'crashed', 'refused')
        ),
        error_type text,
        finish_reason text,
        traffic_mode text NOT NULL CHECK (traffic_mode IN ('shared', 'byok')),
        prompt_tokens integer NOT NULL,
        completion_tokens integer NOT NULL,
        cache_read_tokens integer NOT NULL,
        cache_write_tokens integer NOT NULL,
        reasoning_tokens integer NOT NULL,
        usage_source text NOT NULL CHECK (usage_source IN ('upstream', 'estimated', 'none')),
        cost bigint NOT NULL CHECK (cost >= 0),
        model_charge bigint NOT NULL CHECK (model_charge >= 0),
        byok_platform_fee bigint NOT NULL CHECK (byok_platform_fee >= 0),
        managed_tool_fee bigint NOT NULL CHECK (managed_tool_fee >= 0),
        agent_runtime_fee bigint NOT NULL DEFAULT 0 CHECK (agent_runtime_fee >= 0),
        shortfall bigint NOT NULL DEFAULT 0 CHECK (shortfall >= 0),
        billing_note text,
        streamed boolean NOT NULL,
        latency_ms integer NOT NULL,
        generation_time_ms integer NOT NULL,
        created_at timestamptz NOT NULL,
        CONSTRAINT request_logs_cost_is_its_parts CHECK (
          cost = model_charge + byok_platform_fee + managed_tool_fee + agent_runtime_fee
        )
      )`);
    await queryRunner.query(
      `CREATE INDEX request_logs_tenant_id_created_at_idx
         ON request_logs (tenant_id, created_at DESC, id DESC)`,
    );
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`DROP TABLE request_logs`);
    await queryRunner.query(`DROP TABLE holds`);
    await queryRunner.query(`DROP TABLE instances`);
    await queryRunner.query(`DROP TABLE ledger_entries`);
    await queryRunner.query(`DROP FUNCTION refuse_ledger_change()`);
    await queryRunner.query(`DROP TABLE account_months`);
    await queryRunner.query(`DROP TABLE accounts`);
    await queryRunner.query(`DROP TABLE api_keys`);
    await queryRunner.query(`DROP TABLE tenants`);
  }
}
