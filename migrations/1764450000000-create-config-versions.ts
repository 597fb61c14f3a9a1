import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Immutable versions of the configuration, and the keys that they refer to. */
export class CreateConfigVersions1764450000000 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      CREATE TABLE config_versions (
        number integer PRIMARY KEY CHECK (number > 0),
        document jsonb NOT NULL,
        catalogue jsonb NOT NULL,
        fingerprint text NOT NULL,
        diff jsonb NOT NULL,
        comment text,
        actor_kind text NOT NULL,
        actor_id text,
        actor_name text NOT NULL,
        program text NOT NULL,
        built_in text NOT NULL,
        created_at timestamptz(3) NOT NULL DEFAULT clock_timestamp()
      )`);
    await queryRunner.query(`
      CREATE FUNCTION refuse_config_version_change() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN
        RAISE EXCEPTION 'config_versions is append-only';
      END $$`);
    await queryRunner.query(`
      CREATE TRIGGER config_versions_append_only
        BEFORE UPDATE OR DELETE OR TRUNCATE ON config_versions
        FOR EACH STATEMENT EXECUTE FUNCTION refuse_config_version_change()`);
    // Separate from the versions, since `secret rotate` re-encrypts them.
    await queryRunner.query(`
      CREATE TABLE provider_keys (
        id uuid PRIMARY KEY,
        sealed_key bytea NOT NULL,
        created_at timestamptz NOT NULL DEFAULT now()
      )`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`DROP TABLE provider_keys`);
    await queryRunner.query(`DROP TABLE config_versions`);
    await queryRunner.query(`DROP FUNCTION refuse_config_version_change()`);
  }
}
