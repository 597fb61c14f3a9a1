import { Injectable } from '@nestjs/common';
import { toStoredText } from '../../platform/database/stored-text.js';
import type { JsonObject } from '../../platform/http/json-body.js';
import type { SqlExecutor } from '../access/api-key.repository.js';
import type { Author } from '../access/author.js';

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
   * One row for one change.
   *
   * @param transaction that of the change, so that there is neither without the other
   */
  async record(transaction: SqlExecutor, author: Author, change: AuditChange): Promise<void> {
    const { actor, requestId } = author;
    await transaction.query(
      `INSERT INTO audit_log (actor_kind, actor_id, actor_name, tenant_id, action, target_type,
                              target_id, before, after, request_id)
       VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
      [
        actor.kind,
        actor.id,
        toStoredText(actor.name),
        change.tenantId,
        change.action,
        change.target.type,
        toStoredText(change.target.id),
        change.before && toStoredJson(change.before),
        change.after && toStoredJson(change.after),
        requestId,
      ],
    );
  }
}

/** `jsonb` takes no NUL and no lone surrogates: its texts are stored as those of `text` columns. */
function toStoredJson(value: JsonObject): string {
  return JSON.stringify(value, (_, member: unknown) =>
    typeof member === 'string' ? toStoredText(member) : member,
  );
}
