import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * `account_months` has the charges of a month, and this index the few other entries, so statements
 * don't sum the ledger. Charges are not in the index and cost nothing extra.
 */
export class IndexRareLedgerEntries1764250600000 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(
      `CREATE INDEX ledger_entries_rare_idx ON ledger_entries (tenant_id, created_at)
         INCLUDE (kind, amount) WHERE kind <> 'charge'`,
    );
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`DROP INDEX ledger_entries_rare_idx`);
  }
}
