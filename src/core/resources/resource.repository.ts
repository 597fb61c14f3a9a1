import { randomUUID } from 'node:crypto';
import { IsNull, type FindOptionsOrder, type FindOptionsWhere, type Repository } from 'typeorm';
import type { QueryDeepPartialEntity } from 'typeorm/query-builder/QueryPartialEntity.js';
import type { Author } from '../access/author.js';
import { refuseChange, type Caller, type Maker } from '../access/caller.js';
import { refuseOutOfScope, type ScopedRow } from '../access/scope.js';
import type { AuditChange, AuditLog } from '../audit/audit-log.js';
import type { Database, SqlExecutor } from '../../platform/database/database.js';
import { isUuid } from '../../platform/database/stored-text.js';
import { InvalidRequestError, NotFoundError } from '../../platform/errors/gateway-errors.js';
import type { JsonObject } from '../../platform/http/json-body.js';

/** A tenant's id; null for operators, who share ownership. */
export type Owner = string | null;

/** Columns that every resource has; a `ScopedEntity` also limits which keys may change it. */
export interface ResourceRow extends Partial<ScopedRow> {
  id: string;
  tenantId: Owner;
  madeBy: Maker;
  createdAt: Date;
}

export interface ResourceKind {
  /** In error messages: `guardrail`. */
  readonly noun: string;
  /** In the audit log: `guardrail`, for actions such as `guardrail.create`. */
  readonly type: string;
  /** In the quota error: `guardrails`. */
  readonly plural: string;
  /** The `param` of the quota error; `plural`, unless given. */
  readonly param?: string;
}

/** Columns that callers set; undefined ones keep their value. */
export type Values<Row> = Partial<Omit<Row, 'id' | 'tenantId' | 'madeBy' | 'createdAt'>>;

/**
 * Stores the rows of one kind of resource: lists, quotas, locks, and changes with their audit rows. A subclass
 * names the resource and says in `toAudited` which fields the audit log shows.
 */
export abstract class ResourceRepository<Row extends ResourceRow> {
  protected abstract readonly kind: ResourceKind;

  constructor(
    private readonly repository: Repository<Row>,
    protected readonly database: Database,
    private readonly audit: AuditLog,
  ) {}

  /** @param before the previous row, when `row` is the new side of a change */
  protected abstract toAudited(row: Row, before?: Row): JsonObject;

  /** Returns the owner's rows, newest first. */
  list(owner: Owner): Promise<Row[]> {
    const order = { createdAt: 'DESC', id: 'DESC' } as FindOptionsOrder<Row>;
    return this.repository.find({ where: ownedBy<Row>(owner), order });
  }

  /** @throws NotFoundError */
  async find(owner: Owner, id: string, executor: SqlExecutor = this.database): Promise<Row> {
    const rows = this.database.within(executor, this.repository);
    const row = isUuid(id) && (await rows.findOneBy(ownedBy<Row>(owner, id)));
    return row || this.notFound();
  }

  /**
   * @param caller null for an operator
   * @throws PermissionError for a row that another key owns, NotFoundError
   */
  async findChangeable(caller: Caller | null, id: string): Promise<Row> {
    const row = await this.find(caller?.tenantId ?? null, id);
    const { noun } = this.kind;
    const { scopeKeyId, scopeAncestorIds } = row;
    if (caller && scopeKeyId !== undefined && scopeAncestorIds) {
      refuseOutOfScope(caller, { scopeKeyId, scopeAncestorIds }, noun);
    } else if (caller) {
      refuseChange(caller, row.madeBy, noun);
    }
    return row;
  }

  /** Locks the row until the end of the transaction. @throws NotFoundError */
  async lock(transaction: SqlExecutor, owner: Owner, id: string): Promise<Row> {
    const rows = this.database.within(transaction, this.repository);
    const where = ownedBy<Row>(owner, id);
    const row = isUuid(id) && (await rows.findOne({ where, lock: { mode: 'pessimistic_write' } }));
    return row || this.notFound();
  }

  /** Serializes changes of an owner that depend on its other rows. */
  async lockOwner(transaction: SqlExecutor, owner: Owner): Promise<void> {
    await transaction.query('SELECT pg_advisory_xact_lock(hashtextextended($1, 0))', [
      `${this.kind.type}/${owner}`,
    ]);
  }

  /** Checks the quota ahead of costly validation; `insert` enforces it. @throws InvalidRequestError */
  async assertQuota(
    owner: Owner,
    limit: number,
    executor: SqlExecutor = this.database,
  ): Promise<void> {
    const rows = this.database.within(executor, this.repository);
    if ((await rows.countBy(ownedBy<Row>(owner))) < limit) return;
    const { plural, param = plural } = this.kind;
    throw new InvalidRequestError(
      param,
      `There are ${limit} ${plural}, which is the maximum. Delete one first.`,
    );
  }

  /** @throws InvalidRequestError when the owner has `limit` rows already */
  async insert(
    transaction: SqlExecutor,
    author: Author,
    values: Values<Row> & Pick<Row, 'tenantId' | 'madeBy'> & Partial<Pick<Row, 'id'>>,
    limit: number,
  ): Promise<Row> {
    const { tenantId, id = randomUUID() } = values;
    await this.lockOwner(transaction, tenantId);
    await this.assertQuota(tenantId, limit, transaction);
    const rows = this.database.within(transaction, this.repository);
    await rows.insert({ ...values, id } as QueryDeepPartialEntity<Row>);
    const after = await this.find(tenantId, id, transaction);
    await this.record(transaction, author, 'create', after, { after: this.toAudited(after) });
    return after;
  }

  /** Changes a locked row. */
  async update(
    transaction: SqlExecutor,
    author: Author,
    before: Row,
    values: Values<Row>,
  ): Promise<Row> {
    const rows = this.database.within(transaction, this.repository);
    const where = ownedBy<Row>(before.tenantId, before.id);
    if (Object.values(values).some((value) => value !== undefined)) {
      await rows.update(where, values as QueryDeepPartialEntity<Row>);
    }
    const after = await this.find(before.tenantId, before.id, transaction);
    await this.record(transaction, author, 'update', before, {
      before: this.toAudited(before),
      after: this.toAudited(after, before),
    });
    return after;
  }

  /** @throws NotFoundError when it was deleted concurrently */
  async remove(transaction: SqlExecutor, author: Author, before: Row): Promise<void> {
    const rows = this.database.within(transaction, this.repository);
    const { affected } = await rows.delete(ownedBy<Row>(before.tenantId, before.id));
    if (affected !== 1) this.notFound();
    await this.record(transaction, author, 'delete', before, { before: this.toAudited(before) });
  }

  record(
    executor: SqlExecutor,
    author: Author,
    verb: string,
    { id, tenantId }: Pick<Row, 'id' | 'tenantId'>,
    { before = null, after = null }: Partial<Pick<AuditChange, 'before' | 'after'>>,
  ): Promise<void> {
    const { type } = this.kind;
    const change = { tenantId, action: `${type}.${verb}`, target: { type, id }, before, after };
    return this.audit.record(executor, author, change);
  }

  private notFound(): never {
    throw new NotFoundError('id', `No ${this.kind.noun} has this id.`);
  }
}

function ownedBy<Row extends ResourceRow>(owner: Owner, id?: string): FindOptionsWhere<Row> {
  const where = { tenantId: owner ?? IsNull(), ...(id !== undefined && { id }) };
  return where as FindOptionsWhere<Row>;
}
