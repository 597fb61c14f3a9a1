import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Earlier releases stored addresses that the issuer did not report as verified, and folded look-alike letters into
 * ASCII. Which ones is not recorded, so all are cleared: the next login of each person stores a verified one again.
 */
export class ForgetUnverifiedAddresses1764550000000 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('UPDATE people SET email = NULL WHERE email IS NOT NULL');
  }

  /** Cleared addresses cannot be restored. */
  async down(): Promise<void> {}
}
