import { hash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { toStoredText } from '../../platform/database/stored-text.js';
import { isJsonObject, type JsonObject } from '../../platform/http/json-body.js';
import type { SqlExecutor } from '../../platform/database/database.js';
import type { Author } from '../access/author.js';

/** Limit of each side of a change; longer members are replaced by their SHA-256. */
const MAX_SIDE_LENGTH = 16_384;
/** Users sometimes paste a key into a name. Key previews are shorter. */
const KEY = /\bsk-[\w-]{16,}/g;

export interface AuditChange {
  /** The tenant that owns the changed object, and may read the entry; null for operators only. */
  readonly tenantId: string | null;
  /** Kind of object and action, such as `api_key.create`. */
  readonly action: string;
  readonly target: { readonly type: string; readonly id: string };
  /** Relevant fields before the change, without secrets; null for a new object. */
  readonly before: JsonObject | null;
  /** Relevant fields after the change; null for a deleted object. */
  readonly after: JsonObject | null;
}

/** Records who changed what. Rows are immutable, and only `forget_audit_log` deletes them. */
@Injectable()
export class AuditLog {
  /**
   * Writes one row per change; none if before and after are equal.
   *
   * @param transaction the change's own, so that both commit together
   */
  async record(transaction: SqlExecutor, author: Author, change: AuditChange): Promise<void> {
    const values = valuesOf(author, change);
    if (values[BEFORE] !== null && values[BEFORE] === values[AFTER]) return;
    await transaction.query(`${INSERT} VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`, values);
  }

  /**
   * Returns an INSERT for the `WITH` of a change that is a single statement.
   *
   * @param ofEach the part of the `WITH` that has a row if the change takes place
   * @param first number of the INSERT's first parameter
   */
  clause(
    { author, change }: AuditedChange,
    { ofEach, first }: { ofEach: string; first: number },
  ): { text: string; values: (string | null)[] } {
    const values = valuesOf(author, change);
    const parameters = TYPES.map((type, index) => `$${first + index}::${type}`);
    return { text: `${INSERT} SELECT ${parameters.join(', ')} FROM ${ofEach}`, values };
  }
}

/** A change and its author. */
export interface AuditedChange {
  readonly author: Author;
  readonly change: AuditChange;
}

const INSERT = `INSERT INTO audit_log (actor_kind, actor_id, actor_name, tenant_id, action, target_type,
    target_id, before, after, request_id)`;
/** Types of the columns above. */
const TYPES = 'text text text uuid text text text jsonb jsonb uuid'.split(' ');
const BEFORE = 7;
const AFTER = 8;

function valuesOf({ actor, requestId }: Author, change: AuditChange): (string | null)[] {
  return [
    actor.kind,
    actor.id,
    toStoredText(hideKeys(actor.name)),
    change.tenantId,
    change.action,
    change.target.type,
    toStoredText(change.target.id),
    change.before && toStored(change.before),
    change.after && toStored(change.after),
    requestId,
  ];
}

/**
 * Encodes a side of a change for `jsonb`, which accepts no NUL and no lone surrogates: text is
 * stored like in `text` columns. Replaces the longest members when it is too long.
 */
function toStored(side: JsonObject): string {
  const members = Object.entries(side).flatMap(([name, value]): [string, string][] => {
    const json: string | undefined = JSON.stringify(value);
    if (json === undefined) return [];
    // As plain JSON: dates become text.
    const plain = withTexts<unknown>(JSON.parse(json), (text) => toStoredText(hideKeys(text)));
    return [[toStoredText(name), JSON.stringify(plain)]];
  });
  let length = members.reduce((sum, [, json]) => sum + json.length, 0);
  for (const member of [...members].sort(([, one], [, other]) => other.length - one.length)) {
    if (length <= MAX_SIDE_LENGTH) break;
    const [, json] = member;
    member[1] = JSON.stringify({ omitted_length: json.length, sha256: hash('sha256', json) });
    length += member[1].length - json.length;
  }
  const parts = members.map(([name, json]) => `${JSON.stringify(name)}:${json}`);
  return `{${parts.join(',')}}`;
}

function hideKeys(text: string): string {
  return text.replace(KEY, 'sk-…');
}

/**
 * Returns the value with every text in it changed, member names included.
 *
 * @param value JSON data
 */
export function withTexts<Value>(value: Value, change: (text: string) => string): Value;
export function withTexts(value: unknown, change: (text: string) => string): unknown {
  if (typeof value === 'string') return change(value);
  if (Array.isArray(value)) return value.map((each: unknown) => withTexts(each, change));
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [change(name), withTexts(member, change)]),
  );
}
