import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * A row for each change that anybody made, written in the transaction of the change. Without foreign
 * keys: rows outlive what they tell of.
 */
export class CreateAuditLog1764400100000 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    // Times to the millisecond, which is what JavaScript's have and cursors hold. clock_timestamp(): rows of
    // one long transaction are told apart by it, and one is not dated before what it waited for.
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
    // The one way in which rows go: the oldest first, and all that are older than told in the end.
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
