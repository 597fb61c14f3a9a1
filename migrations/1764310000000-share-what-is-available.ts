import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Computes what an account has left after a sequence of holds, each between its minimum and maximum
 * (`shareOf` in src/core/ledger/admit-requests.ts computes the same). An aggregate, so that one statement
 * can decide a whole group of holds in order.
 */
export class ShareWhatIsAvailable1764310000000 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      CREATE FUNCTION ledger_left_after_hold(
        left_over bigint, room bigint, lowest bigint, highest bigint, base bigint
      ) RETURNS bigint LANGUAGE plpgsql IMMUTABLE AS $$
      DECLARE
        available bigint := coalesce(left_over, room);
      BEGIN
        RETURN available - least(highest, greatest(lowest, least(available, base + available / 32)));
      END $$`);
    await queryRunner.query(`
      CREATE AGGREGATE ledger_left_after_holds(
        room bigint, lowest bigint, highest bigint, base bigint
      ) (SFUNC = ledger_left_after_hold, STYPE = bigint)`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(
      'DROP AGGREGATE ledger_left_after_holds(bigint, bigint, bigint, bigint)',
    );
    await queryRunner.query(
      'DROP FUNCTION ledger_left_after_hold(bigint, bigint, bigint, bigint, bigint)',
    );
  }
}
