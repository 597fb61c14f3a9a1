import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Operators' keys for `/v1/admin`. Stores only a SHA-256 and a preview of each key. */
export class CreateAdminKeys1764400000000 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      CREATE TABLE admin_keys (
        id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
        name text NOT NULL,
        key_hash bytea NOT NULL UNIQUE,
        key_preview text NOT NULL,
        role text NOT NULL CHECK (role IN ('admin', 'auditor')),
        created_at timestamptz(3) NOT NULL DEFAULT now(),
        expires_at timestamptz,
        revoked_at timestamptz,
        last_used_at timestamptz
      )`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`DROP TABLE admin_keys`);
  }
}
