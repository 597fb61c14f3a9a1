import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Conversations with an id, and their items. JSON is stored as text and without foreign keys, as for
 * stored responses. Responses outlive their conversation.
 */
export class CreateConversations1764370000000 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      CREATE TABLE conversations (
        id text PRIMARY KEY,
        tenant_id uuid NOT NULL,
        metadata text NOT NULL,
        created_at timestamptz NOT NULL,
        used_at timestamptz NOT NULL
      )`);
    // For the sweep: finds conversations that have not been used for long.
    await queryRunner.query(
      `CREATE INDEX conversations_used_at_id_idx ON conversations (used_at, id)`,
    );
    // batch_id: the response or request that added the items; together with the position, it makes
    // repeated statements idempotent.
    await queryRunner.query(`
      CREATE TABLE conversation_items (
        conversation_id text NOT NULL,
        batch_id text NOT NULL,
        position integer NOT NULL,
        sequence bigint GENERATED ALWAYS AS IDENTITY,
        id text NOT NULL,
        item text NOT NULL,
        bytes integer NOT NULL CHECK (bytes >= 0),
        PRIMARY KEY (conversation_id, batch_id, position)
      )`);
    await queryRunner.query(
      `CREATE INDEX conversation_items_conversation_id_sequence_idx
         ON conversation_items (conversation_id, sequence)`,
    );
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`DROP TABLE conversation_items`);
    await queryRunner.query(`DROP TABLE conversations`);
  }
}
