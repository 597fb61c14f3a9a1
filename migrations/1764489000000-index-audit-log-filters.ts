import type { MigrationInterface, QueryRunner } from 'typeorm';

/** What has few values, so that a tenant's rows with one of them are to be found among all of that value. */
const KINDS = ['action', 'actor_kind', 'target_type'];
/** Who acts for many tenants, so likewise; and what hardly ever has rows of several tenants. */
const OWN = ['actor_id', 'target_id', 'request_id'];

const INDEXES = [
  ...KINDS.flatMap((column) => [[column], ['tenant_id', column]]),
  ...OWN.map((column) => [column]),
  ['tenant_id', 'actor_id'],
].map((columns) => {
  const last = columns.at(-1)!;
  return {
    name: `audit_log_${columns.join('_')}_idx`,
    columns: [...columns, 'created_at', 'id'].join(', '),
    // Null of commands and starts.
    condition: last === 'actor_id' || last === 'request_id' ? `WHERE ${last} IS NOT NULL` : '',
  };
});

/**
 * So that each filter of the audit log finds its newest rows without looking at the others. Each index is
 * made in a transaction of its own, so that changes wait for a second or two at most.
 */
export class IndexAuditLogFilters1764489000000 implements MigrationInterface {
  readonly transaction = false;

  async up(queryRunner: QueryRunner): Promise<void> {
    for (const { name, columns, condition } of INDEXES) {
      await queryRunner.query(
        `CREATE INDEX IF NOT EXISTS ${name} ON audit_log (${columns}) ${condition}`,
      );
    }
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    for (const { name } of INDEXES) await queryRunner.query(`DROP INDEX IF EXISTS ${name}`);
  }
}
