import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Guardrails, their events, and the log column for flagged requests. Rules are JSON stored as text:
 * they are only read as a whole, and `jsonb` rejects strings with NUL. Events have no foreign keys,
 * like other tables that requests write to, and outlive their guardrail.
 */
export class CreateGuardrails1763860000000 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    // revision: incremented by each change; tells instances when to compile the rules again.
    await queryRunner.query(`
      CREATE TABLE guardrails (
        id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
        tenant_id uuid NOT NULL REFERENCES tenants (id),
        name text NOT NULL,
        description text,
        rules text NOT NULL,
        pattern_sizes integer[] NOT NULL,
        action text NOT NULL CHECK (action IN ('block', 'log', 'flag')),
        applies_to text[] NOT NULL CHECK (
          applies_to <@ ARRAY['input', 'output'] AND cardinality(applies_to) > 0
        ),
        is_enabled boolean NOT NULL,
        trigger_count bigint NOT NULL DEFAULT 0 CHECK (trigger_count >= 0),
        last_triggered_at timestamptz,
        revision integer NOT NULL DEFAULT 1,
        created_at timestamptz NOT NULL DEFAULT now(),
        updated_at timestamptz NOT NULL DEFAULT now()
      )`);
    await queryRunner.query(
      `CREATE INDEX guardrails_tenant_id_created_at_idx
         ON guardrails (tenant_id, created_at, id)`,
    );
    await queryRunner.query(`
      CREATE TABLE guardrail_events (
        id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        tenant_id uuid NOT NULL,
        guardrail_id uuid NOT NULL,
        request_id uuid NOT NULL,
        action text NOT NULL CHECK (action IN ('block', 'log', 'flag')),
        direction text NOT NULL CHECK (direction IN ('input', 'output')),
        created_at timestamptz NOT NULL
      )`);
    await queryRunner.query(
      `CREATE INDEX guardrail_events_guardrail_id_created_at_idx
         ON guardrail_events (guardrail_id, created_at)`,
    );
    await queryRunner.query(
      `ALTER TABLE request_logs ADD COLUMN flagged boolean NOT NULL DEFAULT false`,
    );
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`ALTER TABLE request_logs DROP COLUMN flagged`);
    await queryRunner.query(`DROP TABLE guardrail_events`);
    await queryRunner.query(`DROP TABLE guardrails`);
  }
}
