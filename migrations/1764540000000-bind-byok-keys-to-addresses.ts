import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Binds a BYOK key to the address of an operator's provider, so that moving the provider does not move the key. */
export class BindByokKeysToAddresses1764540000000 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`ALTER TABLE provider_credentials ADD COLUMN base_url text`);
    await queryRunner.query(`
      UPDATE provider_credentials SET base_url = rtrim(entry->>'base_url', '/')
        FROM config_versions, jsonb_array_elements(document->'providers') AS entry
       WHERE number = (SELECT max(number) FROM config_versions)
         AND entry->>'id' = provider_credentials.provider`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`ALTER TABLE provider_credentials DROP COLUMN base_url`);
  }
}
