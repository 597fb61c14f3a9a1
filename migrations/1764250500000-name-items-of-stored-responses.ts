import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Finds a stored response by the id of one of its items. Ids from the gateway contain the response's
 * id, so the column holds only ids from vendors.
 */
export class NameItemsOfStoredResponses1764250500000 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`ALTER TABLE stored_responses ADD COLUMN vendor_item_ids text[]`);
    await queryRunner.query(
      `CREATE INDEX stored_responses_vendor_item_ids_idx
         ON stored_responses USING gin (vendor_item_ids) WHERE vendor_item_ids IS NOT NULL`,
    );
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`DROP INDEX stored_responses_vendor_item_ids_idx`);
    await queryRunner.query(`ALTER TABLE stored_responses DROP COLUMN vendor_item_ids`);
  }
}
