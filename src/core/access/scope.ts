import { Column, VirtualColumn } from 'typeorm';
import { EnumField, UuidField } from '../../platform/http/field.decorators.js';
import { PermissionError } from '../../platform/errors/gateway-errors.js';
import type { Caller } from './caller.js';

export const SCOPE_TYPES = ['tenant', 'key'] as const;

/** Requests that a stored account, destination or webhook serves. */
export class ScopeDto {
  @EnumField(SCOPE_TYPES, {
    description: '`tenant`: all requests. `key`: requests of one key and of the keys below it.',
  })
  type!: (typeof SCOPE_TYPES)[number];

  @UuidField({ nullable: true, description: 'The key; null for `tenant`.' })
  api_key_id!: string | null;
}

/** A key and its ancestors. */
export type KeyChain = Pick<Caller, 'apiKeyId' | 'ancestorIds'>;

/** A row's scope, as selected by `SCOPE_COLUMNS`. */
export interface ScopedRow {
  /** Null when the row serves the whole tenant. */
  scopeKeyId: string | null;
  /** Ancestors of the scope's key. */
  scopeAncestorIds: string[];
}

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

/** Selects a `ScopedRow` from a table with a column `scope_key_id`. */
export const SCOPE_COLUMNS = `scope_key_id AS "scopeKeyId",
  ARRAY(SELECT unnest(ancestor_ids) FROM api_keys WHERE api_keys.id = scope_key_id) AS "scopeAncestorIds"`;

/** Returns SQL that is false once the key of a row's scope, or an ancestor, is revoked or expired. */
export function scopeIsLive(column = 'scope_key_id'): string {
  return `NOT EXISTS (
    SELECT FROM api_keys scope_key JOIN api_keys link
        ON link.id = scope_key.id OR link.id = ANY (scope_key.ancestor_ids)
     WHERE scope_key.id = ${column} AND (link.revoked_at IS NOT NULL OR link.expires_at <= now()))`;
}

/** Returns the scope of rows that a caller creates: its own key for a routing key, else null for the tenant. */
export function scopeKeyOf({ keyType, apiKeyId }: Caller): string | null {
  return keyType === 'routing' ? apiKeyId : null;
}

/** Returns whether a row of this scope serves the requests of a key. */
export function isInScope(scopeKeyId: string | null, { apiKeyId, ancestorIds }: KeyChain): boolean {
  return (
    scopeKeyId === null || scopeKeyId === apiKeyId || ancestorIds?.includes(scopeKeyId) === true
  );
}

export function toScope(scopeKeyId: string | null): ScopeDto {
  return { type: scopeKeyId === null ? 'tenant' : 'key', api_key_id: scopeKeyId };
}

/**
 * Limits a routing key to rows of its own scope and of the keys below it. Changing a row of another
 * key would redirect that key's requests.
 *
 * @param noun kind of row, such as `destination`
 * @throws PermissionError
 */
export function refuseOutOfScope(caller: Caller, row: ScopedRow, noun: string): void {
  const { scopeKeyId, scopeAncestorIds } = row;
  if (caller.keyType === 'management') return;
  if (scopeKeyId === caller.apiKeyId || scopeAncestorIds.includes(caller.apiKeyId)) return;
  throw new PermissionError(
    `This ${noun} belongs to ${scopeKeyId === null ? 'the whole tenant' : 'another key'}. Use a management key (sk-mgmt-…) to change or delete it.`,
  );
}
