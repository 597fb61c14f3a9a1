import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * One row per change, written in the transaction of the change. Without foreign keys, since rows
 * outlive the changed objects.
 */
export class CreateAuditLog1764400100000 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    // Milliseconds, the precision of JavaScript dates and cursors. clock_timestamp() distinguishes rows
    // of one long transaction, and never precedes a change that the transaction waited for.
    await queryRunner.query(`
      CREATE TABLE audit_log (
        id bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
        created_at timestamptz(3) NOT NULL DEFAULT clock_timestamp(),
        actor_kind text NOT NULL
          CHECK (actor_kind IN ('admin_key', 'api_key', 'person', 'command', 'bootstrap', 'service')),
        actor_id text,
        actor_name text NOT NULL,
        tenant_id uuid,
        action text NOT NULL,
        target_type text NOT NULL,
        target_id text NOT NULL,
        before jsonb,
        after jsonb,
        request_id uuid
      )`);
    await queryRunner.query(
      `CREATE INDEX audit_log_tenant_id_created_at_id_idx ON audit_log (tenant_id, created_at, id)`,
    );
    await queryRunner.query(
      `CREATE INDEX audit_log_created_at_id_idx ON audit_log (created_at, id)`,
    );
    await queryRunner.query(`
      CREATE FUNCTION refuse_audit_log_change() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN
        IF TG_OP = 'DELETE' AND current_setting('gateway.forgets_audit_log', true) = 'on' THEN
          RETURN NULL;
        END IF;
        RAISE EXCEPTION 'audit_log is append-only';
      END $$`);
    await queryRunner.query(`
      CREATE TRIGGER audit_log_append_only
        BEFORE UPDATE OR DELETE OR TRUNCATE ON audit_log
        FOR EACH STATEMENT EXECUTE FUNCTION refuse_audit_log_change()`);
    // The only way to delete rows: oldest first, up to the given time.
    await queryRunner.query(`
      CREATE FUNCTION forget_audit_log(older_than timestamptz, most integer) RETURNS bigint
        LANGUAGE plpgsql AS $$
        DECLARE forgotten bigint;
        BEGIN
          PERFORM set_config('gateway.forgets_audit_log', 'on', true);
          DELETE FROM audit_log WHERE id IN (
            SELECT id FROM audit_log WHERE created_at < older_than
             ORDER BY created_at, id LIMIT most
          );
          GET DIAGNOSTICS forgotten = ROW_COUNT;
          PERFORM set_config('gateway.forgets_audit_log', 'off', true);
          RETURN forgotten;
        END $$`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`DROP FUNCTION forget_audit_log(timestamptz, integer)`);
    await queryRunner.query(`DROP TABLE audit_log`);
    await queryRunner.query(`DROP FUNCTION refuse_audit_log_change()`);
  }
}
