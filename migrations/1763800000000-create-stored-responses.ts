import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * The turns of Responses conversations. JSON is kept as text: it is only ever read back whole, and
 * `jsonb` refuses strings with NUL. Like the other tables that requests write to it has no foreign
 * keys; a turn may outlive the one before it, which its tenant deleted.
 */
export class CreateStoredResponses1763800000000 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    // context_bytes: the turn's items and those of all turns before it, which is what going on
    // from here has to load.
    await queryRunner.query(`
      CREATE TABLE stored_responses (
        id text PRIMARY KEY,
        tenant_id uuid NOT NULL,
        request_id uuid NOT NULL,
        conversation_id text NOT NULL,
        previous_response_id text,
        model text NOT NULL,
        status text NOT NULL CHECK (status IN ('completed', 'incomplete', 'failed')),
        input_items text NOT NULL,
        output_items text NOT NULL,
        response text NOT NULL,
        context_bytes bigint NOT NULL CHECK (context_bytes >= 0),
        created_at timestamptz NOT NULL
      )`);
    // Where the sweep looks for what is old, …
    await queryRunner.query(
      `CREATE INDEX stored_responses_created_at_id_idx ON stored_responses (created_at, id)`,
    );
    // … and whether its conversation has a younger turn.
    await queryRunner.query(
      `CREATE INDEX stored_responses_conversation_id_created_at_idx
         ON stored_responses (conversation_id, created_at)`,
    );
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`DROP TABLE stored_responses`);
  }
}
