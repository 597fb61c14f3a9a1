import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Alerts read failing vendors from heartbeats (docs/decisions/0049), so this table is unused. */
export class DropAlertVendorReports1764520000000 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`DROP TABLE alert_vendor_reports`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      CREATE TABLE alert_vendor_reports (
        process_id uuid PRIMARY KEY,
        failing jsonb NOT NULL,
        reported_at timestamptz NOT NULL
      )`);
  }
}
