import type { MigrationInterface, QueryRunner } from 'typeorm';

/** What calls to routes used, so that cache hits and speed are known by route (docs/decisions/0073). */
export class CountRouteTokens1764492000000 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    // cached_tokens: of prompt_tokens. output_ms: of the answers of output_tokens, from their calls to their ends.
    await queryRunner.query(`
      ALTER TABLE route_history
        ADD COLUMN prompt_tokens bigint NOT NULL DEFAULT 0,
        ADD COLUMN cached_tokens bigint NOT NULL DEFAULT 0,
        ADD COLUMN output_tokens bigint NOT NULL DEFAULT 0,
        ADD COLUMN output_ms bigint NOT NULL DEFAULT 0`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      ALTER TABLE route_history
        DROP COLUMN prompt_tokens, DROP COLUMN cached_tokens,
        DROP COLUMN output_tokens, DROP COLUMN output_ms`);
  }
}
