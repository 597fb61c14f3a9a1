import type { MigrationInterface, QueryRunner } from 'typeorm';

const PERIODS = ['hour', 'day', 'week', 'month', 'total'];

/**
 * Limits of tenants, keys and end users, and the spend of their budgets (docs/decisions/0045).
 * Previous versions ignore them.
 */
export class CreateLimits1764420000000 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    // Set by the tenant and by the operator; both apply.
    for (const table of ['tenants', 'api_keys']) {
      await queryRunner.query(
        `ALTER TABLE ${table} ADD COLUMN limits jsonb, ADD COLUMN operator_limits jsonb`,
      );
    }
    // Default for end users without limits of their own.
    await queryRunner.query('ALTER TABLE tenants ADD COLUMN end_user_limits jsonb');
    await queryRunner.query(`
      CREATE TABLE end_user_limits (
        tenant_id uuid NOT NULL REFERENCES tenants (id),
        end_user text NOT NULL,
        limits jsonb NOT NULL,
        updated_at timestamptz NOT NULL DEFAULT now(),
        PRIMARY KEY (tenant_id, end_user)
      )`);
    // The time that resets budgets; a function, so that tests can set it.
    await queryRunner.query(
      `CREATE FUNCTION budget_clock() RETURNS timestamptz LANGUAGE sql STABLE AS 'SELECT now()'`,
    );
    // Spend in the periods that contain counted_at.
    await queryRunner.query(`
      CREATE TABLE budget_spend (
        tenant_id uuid NOT NULL,
        scope text NOT NULL CHECK (scope IN ('tenant', 'api_key', 'end_user')),
        subject text NOT NULL,
        counted_at timestamptz NOT NULL,
        ${PERIODS.map((period) => `"${period}" bigint NOT NULL,`).join('\n        ')}
        PRIMARY KEY (tenant_id, scope, subject)
      )`);
    // Requests that count against limits and are not in budget_spend yet.
    await queryRunner.query(`
      CREATE TABLE limit_holds (
        tenant_id uuid NOT NULL,
        scope text NOT NULL CHECK (scope IN ('tenant', 'api_key', 'end_user')),
        subject text NOT NULL,
        request_id uuid NOT NULL,
        opened_at timestamptz NOT NULL DEFAULT budget_clock(),
        PRIMARY KEY (tenant_id, scope, subject, request_id)
      )`);
    await queryRunner.query('CREATE INDEX limit_holds_opened_at_idx ON limit_holds (opened_at)');
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('DROP TABLE limit_holds');
    await queryRunner.query('DROP TABLE budget_spend');
    await queryRunner.query('DROP FUNCTION budget_clock');
    await queryRunner.query('DROP TABLE end_user_limits');
    await queryRunner.query('ALTER TABLE tenants DROP COLUMN end_user_limits');
    for (const table of ['api_keys', 'tenants']) {
      await queryRunner.query(
        `ALTER TABLE ${table} DROP COLUMN limits, DROP COLUMN operator_limits`,
      );
    }
  }
}
