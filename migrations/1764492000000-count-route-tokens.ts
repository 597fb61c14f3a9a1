import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Usage of route calls, for cache hit rates and speed by route (docs/decisions/0073). */
export class CountRouteTokens1764492000000 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    // cached_tokens: part of prompt_tokens. output_ms: total time from call to end of the answers in output_tokens.
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
