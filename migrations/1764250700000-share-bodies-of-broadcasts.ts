import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Stores traces for several destinations of a tenant once; deliveries refer to them. Pending traces
 * in the old form are dropped and counted.
 */
export class ShareBodiesOfBroadcasts1764250700000 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await forgetDeliveries(queryRunner);
    // The body is gzipped already.
    await queryRunner.query(`
      CREATE TABLE broadcast_batches (
        id uuid PRIMARY KEY,
        body bytea NOT NULL,
        created_at timestamptz NOT NULL DEFAULT now()
      )`);
    await queryRunner.query(`ALTER TABLE broadcast_batches ALTER COLUMN body SET STORAGE EXTERNAL`);
    await queryRunner.query(`
      ALTER TABLE broadcast_deliveries
        DROP COLUMN body,
        ADD COLUMN batch_id uuid NOT NULL REFERENCES broadcast_batches (id)`);
    await queryRunner.query(`
      CREATE INDEX broadcast_deliveries_batch ON broadcast_deliveries (batch_id)`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await forgetDeliveries(queryRunner);
    await queryRunner.query(`
      ALTER TABLE broadcast_deliveries DROP COLUMN batch_id, ADD COLUMN body bytea NOT NULL`);
    await queryRunner.query(
      `ALTER TABLE broadcast_deliveries ALTER COLUMN body SET STORAGE EXTERNAL`,
    );
    await queryRunner.query(`DROP TABLE broadcast_batches`);
  }
}

async function forgetDeliveries(queryRunner: QueryRunner): Promise<void> {
  await queryRunner.query(`
    UPDATE broadcast_destinations
       SET dropped_count = dropped_count + waiting.traces,
           last_error = 'the gateway was updated', last_error_at = now()
      FROM (SELECT destination_id, sum(trace_count) AS traces
              FROM broadcast_deliveries GROUP BY destination_id) waiting
     WHERE id = waiting.destination_id`);
  await queryRunner.query(`DELETE FROM broadcast_deliveries`);
}
