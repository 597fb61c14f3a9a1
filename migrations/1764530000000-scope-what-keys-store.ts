import type { MigrationInterface, QueryRunner } from 'typeorm';
import { shortly } from './short-locks.js';

const SCOPED = [
  ['provider_credentials', 'provider_credential'],
  ['broadcast_destinations', 'broadcast_destination'],
  ['alert_rules', 'alert'],
] as const;

/**
 * Limits rows that routing keys stored to those keys if the audit log names the key; null: the whole
 * tenant. Keys record the limits of their creator's rights.
 */
export class ScopeWhatKeysStore1764530000000 implements MigrationInterface {
  // Reads the audit log without holding the locks of the new columns.
  readonly transaction = false;

  async up(queryRunner: QueryRunner): Promise<void> {
    for (const [table] of SCOPED) {
      await shortly(queryRunner, () =>
        queryRunner.query(
          `ALTER TABLE ${table} ADD COLUMN IF NOT EXISTS scope_key_id uuid REFERENCES api_keys (id)`,
        ),
      );
    }
    await shortly(queryRunner, () =>
      queryRunner.query(
        `ALTER TABLE webhook_deliveries ADD COLUMN IF NOT EXISTS scope_key_id uuid`,
      ),
    );
    await shortly(queryRunner, () =>
      queryRunner.query(`
        ALTER TABLE api_keys ADD COLUMN IF NOT EXISTS withheld_rights text[] NOT NULL DEFAULT '{}',
          ADD COLUMN IF NOT EXISTS bound_by_person_id uuid REFERENCES people (id)`),
    );
    for (const [table, target] of SCOPED) {
      await queryRunner.query(
        `UPDATE ${table} stored SET scope_key_id = api_keys.id
           FROM audit_log JOIN api_keys ON api_keys.id::text = actor_id
          WHERE audit_log.action = '${target}.create' AND actor_kind = 'api_key'
            AND audit_log.target_id = stored.id::text AND audit_log.tenant_id = stored.tenant_id
            AND api_keys.tenant_id = stored.tenant_id AND api_keys.type = 'routing'
            AND stored.made_by = 'routing'`,
      );
    }
    // Keys created at startup or by the command line belong to the owner of the host and its secret.
    await queryRunner.query(`
      UPDATE api_keys SET withheld_rights = '{content}' FROM audit_log
       WHERE action = 'api_key.create' AND target_id = api_keys.id::text
         AND made_by = 'operator' AND actor_kind IN ('admin_key', 'person')`);
    await queryRunner.query(`
      UPDATE api_keys SET bound_by_person_id = person_id
        FROM audit_log JOIN memberships ON person_id::text = actor_id
       WHERE action = 'api_key.create' AND actor_kind = 'person' AND target_id = api_keys.id::text
         AND made_by = 'management' AND memberships.tenant_id = api_keys.tenant_id`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await shortly(queryRunner, () =>
      queryRunner.query(
        `ALTER TABLE api_keys DROP COLUMN withheld_rights, DROP COLUMN bound_by_person_id`,
      ),
    );
    for (const table of ['webhook_deliveries', ...SCOPED.map(([name]) => name)]) {
      await shortly(queryRunner, () =>
        queryRunner.query(`ALTER TABLE ${table} DROP COLUMN scope_key_id`),
      );
    }
  }
}
