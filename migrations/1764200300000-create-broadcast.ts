import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Trace destinations of tenants, and pending deliveries. Delivered and dropped ones are deleted, so
 * the table contains only open work.
 */
export class CreateBroadcast1764200300000 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      CREATE TABLE broadcast_destinations (
        id uuid PRIMARY KEY,
        tenant_id uuid NOT NULL REFERENCES tenants (id) ON DELETE CASCADE,
        is_enabled boolean NOT NULL,
        url text NOT NULL,
        sealed_headers bytea NOT NULL,
        sampling_rate double precision NOT NULL CHECK (sampling_rate BETWEEN 0 AND 1),
        includes_content boolean NOT NULL,
        delivered_count bigint NOT NULL DEFAULT 0,
        dropped_count bigint NOT NULL DEFAULT 0,
        last_success_at timestamptz,
        last_error text,
        last_error_at timestamptz,
        created_at timestamptz NOT NULL DEFAULT now(),
        updated_at timestamptz NOT NULL DEFAULT now()
      )`);
    await queryRunner.query(`
      CREATE INDEX broadcast_destinations_tenant ON broadcast_destinations (tenant_id, created_at)`);

    // The body is gzipped already. `size` is its length, in a column so that sums don't read bodies.
    await queryRunner.query(`
      CREATE TABLE broadcast_deliveries (
        id uuid PRIMARY KEY,
        destination_id uuid NOT NULL REFERENCES broadcast_destinations (id) ON DELETE CASCADE,
        body bytea NOT NULL,
        size integer NOT NULL,
        trace_count integer NOT NULL,
        attempts smallint NOT NULL DEFAULT 0,
        next_attempt_at timestamptz NOT NULL DEFAULT now(),
        created_at timestamptz NOT NULL DEFAULT now()
      )`);
    await queryRunner.query(
      `ALTER TABLE broadcast_deliveries ALTER COLUMN body SET STORAGE EXTERNAL`,
    );
    await queryRunner.query(`
      CREATE INDEX broadcast_deliveries_due
        ON broadcast_deliveries (destination_id, next_attempt_at) INCLUDE (size)`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`DROP TABLE broadcast_deliveries`);
    await queryRunner.query(`DROP TABLE broadcast_destinations`);
  }
}
