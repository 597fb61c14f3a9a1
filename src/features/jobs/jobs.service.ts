import { Injectable } from '@nestjs/common';
import type { Author } from '../../core/access/author.js';
import type { Caller } from '../../core/access/caller.js';
import { setDroppedParams } from '../../core/answers/answer-headers.js';
import type { Call } from '../../core/answers/call.js';
import { holdsRight } from '../../core/access/key-rights.js';
import { isOperatorRole } from '../../core/access/roles.js';
import { ArtifactUrls } from './artifacts/artifact-urls.js';
import { CatalogueService } from '../../core/catalogue/catalogue.service.js';
import {
  ConflictError,
  InvalidRequestError,
  NotFoundError,
} from '../../platform/errors/gateway-errors.js';
import type { JsonBody, JsonObject } from '../../platform/http/json-body.js';
import { readJsonBody } from '../../platform/http/read-json-body.js';
import { parseDateRange } from '../../platform/http/date-range.js';
import { readIdempotencyKey } from '../../platform/http/idempotency-key.js';
import { OutboundClient } from '../../platform/outbound/outbound-client.js';
import { type CursorPage, readCursor, toCursorPage } from '../../platform/http/cursor-page.js';
import type { JobGalleryQueryDto } from './job-gallery.dto.js';
import type { JobsQueryDto } from './jobs.dto.js';
import { JobOutcomes } from './job-outcomes.service.js';
import { isOpen, type JobModality, type JobView, modalityOfJobId } from './job.js';
import { parseJob } from './jobs.parse.js';
import { JobsRepository } from './jobs.repository.js';
import { renderGalleryJob, renderJob, renderListItem, type SignArtifact } from './render-job.js';
import { CreateJobService } from './create-job.service.js';

/** Tenant operations on jobs. `JobRunner` does the work. */
@Injectable()
export class JobsService {
  constructor(
    private readonly creation: CreateJobService,
    private readonly repository: JobsRepository,
    private readonly endings: JobOutcomes,
    private readonly catalogue: CatalogueService,
    private readonly urls: ArtifactUrls,
    private readonly outbound: OutboundClient,
  ) {}

  /** Creates a job. @throws GatewayError when it is rejected */
  async create(call: Call): Promise<JsonObject> {
    return this.render(await this.takeIn(call, await readJsonBody(call.body), 'jobs'));
  }

  /** Creates a job from a parsed body. @param endpoint `videos` accepts video models only */
  async takeIn(call: Call, body: JsonBody, endpoint: 'jobs' | 'videos'): Promise<JobView> {
    const idempotencyKey = readIdempotencyKey(call.headers);
    const parsed = parseJob(body.value, (alias) => this.catalogue.find(alias));
    if (endpoint === 'videos' && parsed.modality !== 'video') {
      throw new InvalidRequestError('model', 'This model does not generate videos.');
    }
    const { webhookUrl } = parsed;
    if (webhookUrl !== undefined) {
      await this.outbound.assertDestinationUrl(webhookUrl, 'webhook_url');
    }
    const { id, droppedParams } = await this.creation.create(call, {
      parsed,
      body,
      endpoint,
      idempotencyKey,
    });
    setDroppedParams(call.head, droppedParams);
    return this.find(call.caller, id);
  }

  /** @param modality required modality of the path @throws NotFoundError (`id`) */
  async get(caller: Caller, id: string, modality?: JobModality): Promise<JsonObject> {
    return this.render(await this.find(caller, id, modality));
  }

  /**
   * Cancels an open job.
   * @param author the person who cancels; undefined for API callers
   * @throws NotFoundError (`id`)
   * @throws ConflictError (`id`) when it has ended, also concurrently
   */
  async cancel(
    caller: Caller,
    id: string,
    { modality, author }: { modality?: JobModality; author?: Author } = {},
  ): Promise<JsonObject> {
    const { tenantId } = caller;
    const { status } = await this.find(caller, id, modality);
    if (!isOpen(status)) throw tooLate(status);
    const job = await this.repository.findEndable(tenantId, id);
    const target = { type: 'job', id };
    const [before, after] = [{ status }, { status: 'cancelled' }];
    const isOurs = await this.endings.cancel(
      job!,
      author && { author, change: { tenantId, action: 'job.cancel', target, before, after } },
    );
    const ended = await this.find(caller, id, modality);
    if (!isOurs) throw tooLate(ended.status);
    return author ? renderGalleryJob(ended, this.signFor(caller)) : this.render(ended);
  }

  /** @throws InvalidRequestError on a malformed date */
  async list(caller: Caller, query: JobsQueryDto): Promise<JsonObject> {
    const { limit, offset, modality, status, model } = query;
    const range = parseDateRange(query.start_date, query.end_date);
    const filters = { modality, status, model, ...range };
    // One extra row shows whether there are more.
    const page = { limit: limit + 1, offset };
    const rows = await this.repository.list(caller.tenantId, filters, page);
    return {
      jobs: rows.slice(0, limit).map(renderListItem),
      pagination: { offset, limit, has_more: rows.length > limit },
    };
  }

  /** @throws InvalidRequestError on a malformed date or cursor */
  async gallery(caller: Caller, query: JobGalleryQueryDto): Promise<CursorPage<JsonObject>> {
    const { limit, cursor, modality, status, model } = query;
    const range = parseDateRange(query.start_date, query.end_date);
    const [at, id] = readCursor(cursor, ['time', 'text']) ?? [];
    const after = at === undefined || id === undefined ? undefined : { at, id };
    const filters = { modality, status, model, ...range };
    const jobs = await this.repository.listViews(caller.tenantId, filters, {
      limit: limit + 1,
      after,
    });
    const page = toCursorPage(
      jobs,
      limit,
      (job) => [job.createdAt, job.id],
      (job) => job,
    );
    const shown = page.data.filter(({ isDeleted }) => !isDeleted);
    return { ...page, data: shown.map((job) => renderGalleryJob(job, this.signFor(caller))) };
  }

  /** Returns one job of the gallery. @throws NotFoundError (`id`) */
  async getGalleryJob(caller: Caller, id: string): Promise<JsonObject> {
    return renderGalleryJob(await this.find(caller, id), this.signFor(caller));
  }

  /** @param modality required modality of the path @throws NotFoundError (`id`) */
  async find(caller: Caller, id: string, modality?: JobModality): Promise<JobView> {
    const known = modalityOfJobId(id);
    const isPossible = known !== undefined && (modality === undefined || modality === known);
    const job = isPossible
      ? await this.repository.find(caller.tenantId, id, visibleKeyOf(caller))
      : undefined;
    if (job && !job.isDeleted) return job;
    throw new NotFoundError(
      'id',
      `There is no ${modality ?? ''}${modality ? ' ' : ''}job ${JSON.stringify(id.slice(0, 80))}.`,
    );
  }

  render(job: JobView): JsonObject {
    return renderJob(job, (id, expiresAt) => this.urls.sign(id, expiresAt));
  }

  /**
   * Operators and keys without the `content` permission get no URLs: a fetch would also make the
   * charge final.
   */
  private signFor(caller: Caller): SignArtifact {
    const { actingRole } = caller;
    const isBarred = actingRole ? isOperatorRole(actingRole) : !holdsRight(caller, 'content');
    if (isBarred) return () => null;
    return (id, expiresAt) => this.urls.sign(id, expiresAt);
  }
}

/**
 * Routing keys without the `content` permission see only jobs of their own and of descendant keys.
 */
export function visibleKeyOf(caller: Caller): string | undefined {
  return caller.keyType === 'management' || holdsRight(caller, 'content')
    ? undefined
    : caller.apiKeyId;
}

function tooLate(status: string): ConflictError {
  return new ConflictError('id', `This job has ended (${status}) and cannot be cancelled.`);
}
