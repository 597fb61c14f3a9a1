import { Column, VirtualColumn } from 'typeorm';
import type { ScopedRow } from './scope.js';

/** Columns of entities that serve a whole tenant or the requests of one key and its descendants. */
export abstract class ScopedEntity implements ScopedRow {
  @Column('uuid', { nullable: true })
  scopeKeyId!: string | null;

  @VirtualColumn('uuid', {
    query: (row) =>
      `SELECT ARRAY(SELECT unnest(ancestor_ids) FROM api_keys WHERE id = ${row}.scope_key_id)`,
  })
  scopeAncestorIds!: string[];
}
