import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Conversations that have an id of their own, and their items. JSON is kept as text, and nothing has a
 * foreign key, as with stored responses. A response whose conversation is gone stays.
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
    // Where the sweep looks for those that nobody has used for long.
    await queryRunner.query(
      `CREATE INDEX conversations_used_at_id_idx ON conversations (used_at, id)`,
    );
    // batch_id: what added the items together, a response or a request of its own; with the position it
    // keeps a statement that is carried out twice from adding them twice.
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
