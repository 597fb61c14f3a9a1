import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Alert rules of operators and tenants, and their events (docs/decisions/0049). */
export class CreateAlerts1764460000000 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    // tenant_id: owner of the rule; null: the operator. watched_tenant_id: the tenant it watches; null:
    // every tenant, or the whole service.
    await queryRunner.query(`
      CREATE TABLE alert_rules (
        id uuid PRIMARY KEY,
        tenant_id uuid REFERENCES tenants (id) ON DELETE CASCADE,
        made_by text NOT NULL CHECK (made_by IN ('operator', 'management', 'routing')),
        name text NOT NULL,
        is_enabled boolean NOT NULL,
        kind text NOT NULL,
        condition jsonb NOT NULL,
        watched_tenant_id uuid,
        format text NOT NULL CHECK (format IN ('webhook', 'slack')),
        sealed_url bytea NOT NULL,
        url_preview text NOT NULL,
        created_at timestamptz(3) NOT NULL DEFAULT now(),
        updated_at timestamptz(3) NOT NULL DEFAULT now(),
        CHECK (tenant_id IS NULL OR watched_tenant_id = tenant_id)
      )`);
    await queryRunner.query(
      `CREATE INDEX alert_rules_tenant_id_idx ON alert_rules (tenant_id, created_at, id)`,
    );
    await queryRunner.query(
      `CREATE INDEX alert_rules_kind_idx ON alert_rules (kind) WHERE is_enabled`,
    );

    // An event is also its delivery: columns from state on match webhook_deliveries. It outlives its
    // rule. subject: what it concerns, such as a tenant's or provider's id.
    await queryRunner.query(`
      CREATE TABLE alert_events (
        id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
        rule_id uuid NOT NULL,
        tenant_id uuid,
        rule_name text NOT NULL,
        kind text NOT NULL,
        status text NOT NULL CHECK (status IN ('firing', 'resolved')),
        subject text NOT NULL,
        threshold text NOT NULL,
        period text NOT NULL,
        is_open boolean NOT NULL,
        detail jsonb NOT NULL,
        created_at timestamptz(3) NOT NULL,
        state text NOT NULL CHECK (state IN ('pending', 'delivered', 'dropped')),
        attempts integer NOT NULL DEFAULT 0 CHECK (attempts >= 0),
        next_attempt_at timestamptz NOT NULL DEFAULT now(),
        woken_at timestamptz NOT NULL DEFAULT now(),
        last_error text,
        finished_at timestamptz,
        CHECK ((state = 'pending') = (finished_at IS NULL)),
        CONSTRAINT alert_events_once UNIQUE (rule_id, subject, threshold, period, status)
      )`);
    await queryRunner.query(
      `CREATE UNIQUE INDEX alert_events_open_idx ON alert_events (rule_id, subject, threshold)
         WHERE is_open`,
    );
    await queryRunner.query(
      `CREATE INDEX alert_events_tenant_id_idx ON alert_events (tenant_id, created_at, id)`,
    );
    await queryRunner.query(
      `CREATE INDEX alert_events_rule_id_idx ON alert_events (rule_id, created_at, id)`,
    );
    await queryRunner.query(
      `CREATE INDEX alert_events_woken_at_idx ON alert_events (woken_at) WHERE state = 'pending'`,
    );
    await queryRunner.query(
      `CREATE INDEX alert_events_finished_at_idx ON alert_events (finished_at) WHERE state <> 'pending'`,
    );

    // Sums of the request log for the last hour, by the minute in which requests ended; filled only
    // while a rule uses them.
    await queryRunner.query(`
      CREATE TABLE alert_minutes (
        tenant_id uuid NOT NULL,
        minute timestamptz NOT NULL,
        provider text NOT NULL,
        requests bigint NOT NULL,
        errors bigint NOT NULL,
        cost bigint NOT NULL,
        PRIMARY KEY (tenant_id, minute, provider)
      )`);
    await queryRunner.query(`CREATE INDEX alert_minutes_minute_idx ON alert_minutes (minute)`);

    // Failing vendors, as each process sees them; no row when none fails.
    await queryRunner.query(`
      CREATE TABLE alert_vendor_reports (
        process_id uuid PRIMARY KEY,
        failing jsonb NOT NULL,
        reported_at timestamptz NOT NULL
      )`);

    // Which instance evaluates next, and the last log row in the minutes.
    await queryRunner.query(`
      CREATE TABLE alert_progress (
        is_only boolean PRIMARY KEY DEFAULT true CHECK (is_only),
        looked_at timestamptz NOT NULL DEFAULT 'epoch',
        counted_at timestamptz NOT NULL DEFAULT 'epoch',
        counted_id bigint NOT NULL DEFAULT 0
      )`);
    await queryRunner.query(`INSERT INTO alert_progress DEFAULT VALUES`);

    // Stores the operator's secret with those of tenants, under an id that no tenant has.
    await queryRunner.query(
      `ALTER TABLE webhook_secrets DROP CONSTRAINT webhook_secrets_tenant_id_fkey`,
    );
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(
      `DELETE FROM webhook_secrets WHERE NOT EXISTS (SELECT FROM tenants WHERE id = tenant_id)`,
    );
    await queryRunner.query(
      `ALTER TABLE webhook_secrets ADD CONSTRAINT webhook_secrets_tenant_id_fkey
         FOREIGN KEY (tenant_id) REFERENCES tenants (id)`,
    );
    for (const table of ['progress', 'vendor_reports', 'minutes', 'events', 'rules']) {
      await queryRunner.query(`DROP TABLE alert_${table}`);
    }
  }
}
