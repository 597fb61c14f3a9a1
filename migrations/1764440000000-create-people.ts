import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * People, their roles, and their sessions. Stores only a SHA-256 of each token. The issuer's claims
 * revoke roles that they granted; roles granted here remain.
 */
export class CreatePeople1764440000000 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      CREATE TABLE people (
        id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
        issuer text NOT NULL,
        subject text NOT NULL,
        email text,
        name text NOT NULL,
        operator_role text CHECK (operator_role IN ('admin', 'auditor')),
        operator_by_claim boolean NOT NULL DEFAULT false,
        disabled_at timestamptz,
        created_at timestamptz(3) NOT NULL DEFAULT now(),
        last_login_at timestamptz,
        UNIQUE (issuer, subject)
      )`);
    await queryRunner.query(`
      CREATE TABLE memberships (
        person_id uuid NOT NULL REFERENCES people (id),
        tenant_id uuid NOT NULL REFERENCES tenants (id),
        role text NOT NULL CHECK (role IN ('owner', 'developer', 'viewer', 'billing')),
        by_claim boolean NOT NULL DEFAULT false,
        created_at timestamptz(3) NOT NULL DEFAULT now(),
        PRIMARY KEY (person_id, tenant_id)
      )`);
    await queryRunner.query(`CREATE INDEX memberships_tenant_id_idx ON memberships (tenant_id)`);
    await queryRunner.query(`
      CREATE TABLE invitations (
        id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
        email text NOT NULL,
        tenant_id uuid REFERENCES tenants (id),
        role text NOT NULL,
        invited_by text NOT NULL,
        created_at timestamptz(3) NOT NULL DEFAULT now(),
        expires_at timestamptz NOT NULL,
        accepted_at timestamptz,
        revoked_at timestamptz,
        CHECK (role IN ('owner', 'developer', 'viewer', 'billing') AND tenant_id IS NOT NULL
            OR role IN ('admin', 'auditor') AND tenant_id IS NULL)
      )`);
    await queryRunner.query(`
      CREATE UNIQUE INDEX invitations_open_idx ON invitations (email, tenant_id) NULLS NOT DISTINCT
       WHERE accepted_at IS NULL AND revoked_at IS NULL`);
    await queryRunner.query(`CREATE INDEX invitations_tenant_id_idx ON invitations (tenant_id)`);
    // A session of a person, of a key, or of an operator with a link from the command line.
    await queryRunner.query(`
      CREATE TABLE sessions (
        id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
        token_hash bytea NOT NULL UNIQUE,
        person_id uuid REFERENCES people (id),
        api_key_id uuid REFERENCES api_keys (id),
        admin_key_id uuid REFERENCES admin_keys (id),
        user_agent text,
        created_at timestamptz(3) NOT NULL DEFAULT now(),
        last_seen_at timestamptz NOT NULL DEFAULT now(),
        expires_at timestamptz NOT NULL,
        revoked_at timestamptz,
        CHECK (num_nonnulls(person_id, api_key_id, admin_key_id) <= 1)
      )`);
    await queryRunner.query(`CREATE INDEX sessions_person_id_idx ON sessions (person_id)`);
    await queryRunner.query(`CREATE INDEX sessions_expires_at_idx ON sessions (expires_at)`);
    await queryRunner.query(`
      CREATE TABLE login_links (
        token_hash bytea PRIMARY KEY,
        created_at timestamptz NOT NULL DEFAULT now(),
        expires_at timestamptz NOT NULL,
        used_at timestamptz
      )`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`DROP TABLE login_links`);
    await queryRunner.query(`DROP TABLE sessions`);
    await queryRunner.query(`DROP TABLE invitations`);
    await queryRunner.query(`DROP TABLE memberships`);
    await queryRunner.query(`DROP TABLE people`);
  }
}
