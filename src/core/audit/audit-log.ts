import { hash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { toStoredText } from '../../platform/database/stored-text.js';
import { isJsonObject, type JsonObject } from '../../platform/http/json-body.js';
import type { SqlExecutor } from '../../platform/database/database.js';
import type { Author } from '../access/author.js';

/** Of each side of a change so much is kept; what is longer is told by its SHA-256. */
const MAX_SIDE_LENGTH = 16_384;
/** Nobody means to have a key in a name, but some do. Previews are shorter. */
const KEY = /\bsk-[\w-]{16,}/g;

/** What was changed. */
export interface AuditChange {
  /** Whose it is, and so who else may read of it; null: the operators' alone. */
  readonly tenantId: string | null;
  /** The kind of thing and what was done to it, as `api_key.create`. */
  readonly action: string;
  readonly target: { readonly type: string; readonly id: string };
  /** The fields that matter before the change, without secrets; null: it was not there. */
  readonly before: JsonObject | null;
  /** The same after it; null: it is gone. */
  readonly after: JsonObject | null;
}

/** Writes down who changed what. Rows are never changed, and go only by `forget_audit_log`. */
@Injectable()
export class AuditLog {
  /**
   * One row for one change; none where before and after are the same, for then nothing was changed.
   *
   * @param transaction that of the change, so that there is neither without the other
   */
  async record(transaction: SqlExecutor, author: Author, change: AuditChange): Promise<void> {
    const values = valuesOf(author, change);
    if (values[BEFORE] !== null && values[BEFORE] === values[AFTER]) return;
    await transaction.query(`${INSERT} VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`, values);
  }

  /**
   * The same for a change that is a single statement: an INSERT for its `WITH`.
   *
   * @param ofEach the part of the `WITH` that has a row if the change takes place
   * @param first the number of the first of the INSERT's parameters
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

/** A change, and who makes it. */
export interface AuditedChange {
  readonly author: Author;
  readonly change: AuditChange;
}

const INSERT = `INSERT INTO audit_log (actor_kind, actor_id, actor_name, tenant_id, action, target_type,
    target_id, before, after, request_id)`;
/** Of the columns above. */
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
 * A side of a change as JSON for `jsonb`, which takes no NUL and no lone surrogates: its texts are
 * stored as those of `text` columns. The longest members give way where all are too long.
 */
function toStored(side: JsonObject): string {
  const members = Object.entries(side).flatMap(([name, value]): [string, string][] => {
    const json: string | undefined = JSON.stringify(value);
    if (json === undefined) return [];
    // As JSON has it: dates are texts by now.
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

/** The value with each text in it changed, the names of members too. @param value as JSON has it */
export function withTexts<Value>(value: Value, change: (text: string) => string): Value;
export function withTexts(value: unknown, change: (text: string) => string): unknown {
  if (typeof value === 'string') return change(value);
  if (Array.isArray(value)) return value.map((each: unknown) => withTexts(each, change));
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [change(name), withTexts(member, change)]),
  );
}
