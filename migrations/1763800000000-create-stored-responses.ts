import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * The turns of Responses conversations. JSON is stored as text: it is only read as a whole, and
 * `jsonb` rejects strings with NUL. Has no foreign keys, like other tables that requests write to: a
 * turn may outlive an earlier one that its tenant deleted.
 */
export class CreateStoredResponses1763800000000 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    // context_bytes: the items of the turn and of all turns before it, which the next turn
    // has to load.
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
    // For the sweep: finds old responses, …
    await queryRunner.query(
      `CREATE INDEX stored_responses_created_at_id_idx ON stored_responses (created_at, id)`,
    );
    // … and whether the conversation has a later turn.
    await queryRunner.query(
      `CREATE INDEX stored_responses_conversation_id_created_at_idx
         ON stored_responses (conversation_id, created_at)`,
    );
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`DROP TABLE stored_responses`);
  }
}
