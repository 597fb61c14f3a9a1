import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Webhooks to be delivered. The row is authoritative and the queue only wakes workers:
 * `next_attempt_at` is also the lease, since a worker that claims a delivery first moves it. The event
 * id makes enqueuing idempotent. No foreign keys, like other tables that requests write to.
 */
export class CreateWebhookDeliveries1764200100000 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    // woken_at: when a worker was last woken for it, so that the sweep proceeds to other rows
    // instead of waking workers for the same ones.
    await queryRunner.query(`
      CREATE TABLE webhook_deliveries (
        id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
        tenant_id uuid NOT NULL,
        url text NOT NULL,
        event_id text NOT NULL UNIQUE,
        body text NOT NULL,
        attempts integer NOT NULL DEFAULT 0 CHECK (attempts >= 0),
        next_attempt_at timestamptz NOT NULL DEFAULT now(),
        woken_at timestamptz NOT NULL DEFAULT now(),
        state text NOT NULL DEFAULT 'pending' CHECK (state IN ('pending', 'delivered', 'dropped')),
        last_error text,
        created_at timestamptz NOT NULL DEFAULT now(),
        finished_at timestamptz,
        CHECK ((state = 'pending') = (finished_at IS NULL))
      )`);
    await queryRunner.query(
      `CREATE INDEX webhook_deliveries_woken_at_idx ON webhook_deliveries (woken_at)
         WHERE state = 'pending'`,
    );
    await queryRunner.query(
      `CREATE INDEX webhook_deliveries_finished_at_idx ON webhook_deliveries (finished_at)
         WHERE state <> 'pending'`,
    );
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`DROP TABLE webhook_deliveries`);
  }
}
