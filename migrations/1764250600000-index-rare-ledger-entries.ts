import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * What a month charged stands in `account_months`; with the few other entries at hand, a statement
 * need not add up the ledger. Charges are not in the index, so settling them costs no more.
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
