import { Inject, Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import { APP_CONFIG, type AppConfig } from '../../platform/config/app-config.js';
import { Database, type SqlExecutor } from '../../platform/database/database.js';
import { NotFoundError, PermissionError } from '../../platform/errors/gateway-errors.js';
import { DAY_MS } from '../../platform/time/dates.js';
import { isJsonObject } from '../../platform/http/json-body.js';
import type { Author } from '../access/author.js';
import { AuditLog } from '../audit/audit-log.js';
import type {
  RecordedTrace,
  TraceInterest,
  TraceSink,
  TraceSubject,
} from '../tracing/recorded-trace.js';
import { TracingService } from '../tracing/tracing.service.js';
import { ContentCipher } from './content-cipher.js';
import { draftContent, type RequestContent } from './content-draft.js';
import { ContentWriter } from './content-writer.service.js';
import { ContentRepository, type ContentChoice, type StoredContent } from './content.repository.js';
import type { Excerpt } from './excerpts.js';

/** The prompt and answer of a request. */
export interface KeptContent extends RequestContent {
  readonly requestId: string;
  readonly recordedAt: Date;
}

/**
 * Logs prompts and answers for tenants and keys that want it, where the service's setting allows
 * it; otherwise inactive. Receives requests as traces. Audits every read.
 */
@Injectable()
export class ContentLog implements TraceSink, OnModuleInit {
  private readonly logger = new Logger(ContentLog.name);
  readonly keepsWhole = true;
  readonly setting: AppConfig['contentLog'];
  readonly retentionDays: number;

  constructor(
    private readonly tracing: TracingService,
    private readonly writer: ContentWriter,
    private readonly contents: ContentRepository,
    private readonly cipher: ContentCipher,
    private readonly database: Database,
    private readonly audit: AuditLog,
    @Inject(APP_CONFIG) config: Pick<AppConfig, 'contentLog' | 'contentRetentionDays'>,
  ) {
    this.setting = config.contentLog;
    this.retentionDays = config.contentRetentionDays;
  }

  onModuleInit(): void {
    if (this.setting !== 'off') this.tracing.addSink(this);
  }

  interestIn({ contentLog }: TraceSubject): TraceInterest {
    return this.isOn(contentLog) ? 'content' : 'none';
  }

  accept(trace: RecordedTrace): void {
    if (!this.writer.hasRoom()) return;
    try {
      this.writer.write({
        ...draftContent(trace),
        requestId: trace.requestId,
        tenantId: trace.tenantId,
        recordedAt: new Date(),
        guardrails: trace.guardrails,
      });
    } catch (error) {
      this.writer.drop('faulty');
      const name = error instanceof Error ? error.name : 'unknown';
      this.logger.error(`content not logged: ${name}`);
    }
  }

  /** Returns whether content is logged, given the choice of a key or tenant. */
  isOn(choice: boolean | null): boolean {
    if (this.setting === 'off') return false;
    return choice ?? this.setting === 'on';
  }

  /**
   * Returns the content of a tenant's request.
   *
   * @param requestId a UUID
   * @throws NotFoundError when none is stored
   */
  read(author: Author, tenantId: string, requestId: string): Promise<KeptContent> {
    return this.database.transaction(async (client) => {
      const [stored] = await this.contents.find(client, tenantId, [requestId], this.since());
      if (!stored) throw nothingKept();
      const text = await this.cipher.decrypt(this.keyOf(stored), stored.body, requestId);
      await this.audit.record(client, author, {
        tenantId,
        action: 'content.read',
        target: { type: 'request', id: requestId },
        before: null,
        after: null,
      });
      const content = JSON.parse(text) as RequestContent;
      return { ...content, requestId, recordedAt: stored.recordedAt };
    });
  }

  /** Returns what guardrails found in a tenant's requests, by request; audited as one read. */
  excerpts(
    author: Author,
    tenantId: string,
    requestIds: readonly string[],
  ): Promise<ReadonlyMap<string, readonly Excerpt[]>> {
    return this.database.transaction(async (client) => {
      const found = new Map<string, Excerpt[]>();
      for (const stored of await this.contents.find(client, tenantId, requestIds, this.since())) {
        if (!stored.excerpts) continue;
        const context = `${stored.requestId}/excerpts`;
        const text = await this.cipher.decrypt(this.keyOf(stored), stored.excerpts, context);
        const excerpts: unknown = JSON.parse(text);
        if (Array.isArray(excerpts)) found.set(stored.requestId, excerpts.filter(isExcerpt));
      }
      if (found.size > 0) {
        await this.audit.record(client, author, {
          tenantId,
          action: 'content.read_excerpts',
          target: { type: 'tenant', id: tenantId },
          before: null,
          after: { request_ids: [...found.keys()] },
        });
      }
      return found;
    });
  }

  /**
   * @throws NotFoundError when no content of the request is stored
   */
  delete(author: Author, tenantId: string, requestId: string): Promise<void> {
    return this.database.transaction(async (client) => {
      if (!(await this.contents.delete(client, tenantId, requestId))) throw nothingKept();
      await this.audit.record(client, author, {
        tenantId,
        action: 'content.delete',
        target: { type: 'request', id: requestId },
        before: null,
        after: null,
      });
    });
  }

  /**
   * Deletes all stored and pending content of a tenant.
   *
   * @param executor the transaction that deletes the tenant, if it does
   * @returns the number of requests
   */
  async deleteOfTenant(executor: SqlExecutor, author: Author, tenantId: string): Promise<number> {
    const requests = await this.contents.deleteAll(executor, tenantId);
    await this.audit.record(executor, author, {
      tenantId,
      action: 'content.delete_all',
      target: { type: 'tenant', id: tenantId },
      before: { requests },
      after: null,
    });
    return requests;
  }

  /**
   * Does the same in its own transaction.
   *
   * @throws NotFoundError for an unknown tenant
   */
  deleteAll(author: Author, tenantId: string): Promise<number> {
    return this.database.transaction(async (client) => {
      if (!(await this.contents.lockChoice(client, tenantId))) throw noSuchTenant();
      return this.deleteOfTenant(client, author, tenantId);
    });
  }

  /**
   * @throws NotFoundError for an unknown tenant
   */
  async choiceOf(tenantId: string): Promise<ContentChoice> {
    const choice = await this.contents.readChoice(tenantId);
    if (!choice) throw noSuchTenant();
    return choice;
  }

  /**
   * Sets a tenant's choice, effective on every instance within a second.
   *
   * @param enabled null for the service's setting
   * @throws PermissionError when the setting forbids it, NotFoundError for an unknown tenant
   */
  choose(author: Author, tenantId: string, enabled: boolean | null): Promise<ContentChoice> {
    this.refuseWhereOff(enabled, 'enabled');
    return this.database.transaction(async (client) => {
      const before = await this.contents.lockChoice(client, tenantId);
      if (!before) throw noSuchTenant();
      if (before.enabled === enabled) return before;
      await this.contents.setChoice(client, tenantId, enabled);
      await this.audit.record(client, author, {
        tenantId,
        action: 'content_log.update',
        target: { type: 'tenant', id: tenantId },
        before: { enabled: before.enabled },
        after: { enabled },
      });
      return { enabled };
    });
  }

  /**
   * @param param the requesting field
   * @throws PermissionError
   */
  refuseWhereOff(choice: boolean | null | undefined, param: string): void {
    if (choice !== true || this.setting !== 'off') return;
    throw new PermissionError(
      'Content logging is disabled on this gateway. The operator can enable it by setting GATEWAY_CONTENT_LOG to `allowed`.',
      param,
    );
  }

  /** Older content is hidden, deleted or not. */
  private since(): string {
    if (this.retentionDays === 0) return '-infinity';
    return new Date(Date.now() - this.retentionDays * DAY_MS).toISOString().slice(0, 10);
  }

  private keyOf({ keyId, encryptedKey }: StoredContent): Buffer {
    return this.cipher.unwrap(keyId, encryptedKey);
  }
}

function isExcerpt(value: unknown): value is Excerpt {
  return isJsonObject(value) && typeof value.excerpt === 'string';
}

function nothingKept(): NotFoundError {
  return new NotFoundError(
    'request_id',
    'No content is stored for this request. Content is stored shortly after the answer, if content logging is on.',
  );
}

function noSuchTenant(): NotFoundError {
  return new NotFoundError('id', 'There is no tenant with this id.');
}
