import { Injectable } from '@nestjs/common';
import type { Caller } from '../../core/access/caller.js';
import type { Call } from '../../core/answers/call.js';
import {
  ConflictError,
  GoneError,
  InvalidRequestError,
  NotFoundError,
} from '../../platform/errors/gateway-errors.js';
import type { FormShape } from '../../platform/http/form-fields.js';
import { parseJsonBody, type JsonBody, type JsonObject } from '../../platform/http/json-body.js';
import { readJsonBody } from '../../platform/http/read-json-body.js';
import { receiveForm } from '../../platform/http/receive-form.js';
import { JobArtifacts } from './job-artifacts.service.js';
import { isOpen, modalityOfJobId, type JobView } from './job.js';
import { JobsRepository } from './jobs.repository.js';
import { JobsService, visibleKeyOf } from './jobs.service.js';
import type { VideosQueryDto } from './videos.dto.js';
import { renderVideo, videoStatusOf } from './render-video.js';

/** Form fields that are not strings. */
const VIDEO_FORM: FormShape = {
  lists: new Set(['models']),
  numbers: new Set(['n', 'max_cost']),
  flags: new Set(['stream']),
  objects: new Set(['provider', 'trace', 'metadata', 'input_reference']),
};

/**
 * Video jobs in the videos API's shape. Only jobs created by `POST /v1/videos` have it; others
 * keep the shape of jobs on these paths.
 */
@Injectable()
export class VideosService {
  constructor(
    private readonly jobs: JobsService,
    private readonly repository: JobsRepository,
    private readonly artifacts: JobArtifacts,
  ) {}

  /** Creates a video job from JSON or a form. @throws GatewayError when it is rejected */
  async create(call: Call): Promise<JsonObject> {
    const body = await readVideoBody(call);
    return renderVideo(await this.jobs.takeIn(call, body, 'videos'));
  }

  /** @throws NotFoundError (`id`) */
  async get(caller: Caller, id: string): Promise<JsonObject> {
    const job = await this.jobs.find(caller, id, 'video');
    return isVideo(job) ? renderVideo(job) : this.jobs.render(job);
  }

  /** Returns one page, newest first by default. @throws NotFoundError (`after`) */
  async list(caller: Caller, { limit, order, after }: VideosQueryDto): Promise<JsonObject> {
    const { tenantId } = caller;
    if (after !== undefined && !(await this.findVideo(tenantId, after))) {
      throw new NotFoundError('after', 'No video has this id.');
    }
    // One extra row shows whether there are more.
    const page = { limit: limit + 1, order, after, keyId: visibleKeyOf(caller) };
    const rows = await this.repository.listVideos(tenantId, page);
    const data = rows.slice(0, limit).map(renderVideo);
    return {
      object: 'list',
      data,
      first_id: data[0]?.id ?? null,
      last_id: data.at(-1)?.id ?? null,
      has_more: rows.length > limit,
    };
  }

  /**
   * Stops and deletes a video. Cancels a job of another endpoint, as `/v1/jobs` does.
   * @throws NotFoundError (`id`)
   */
  async delete(caller: Caller, id: string): Promise<JsonObject> {
    const job = await this.jobs.find(caller, id, 'video');
    if (!isVideo(job)) return this.jobs.cancel(caller, id, { modality: 'video' });
    if (isOpen(job.status)) await this.stop(caller, id);
    await this.repository.markDeleted(caller.tenantId, id);
    await this.artifacts.discard(await this.repository.artifactsOf(caller.tenantId, id));
    return { id, object: 'video.deleted', deleted: true };
  }

  /**
   * Returns the file id of a completed video.
   * @throws NotFoundError (`id`)
   * @throws ConflictError (`id`) when it is not completed
   * @throws GoneError (`id`) after the expiry
   * @throws InvalidRequestError (`variant`)
   */
  async fileOf(caller: Caller, id: string, variant: unknown): Promise<string> {
    if (variant !== undefined && variant !== 'video') {
      throw new InvalidRequestError(
        'variant',
        '`variant` must be `video`. No other variants are stored.',
      );
    }
    const job = await this.jobs.find(caller, id, 'video');
    const [file] = job.artifacts;
    if (file) return file.id;
    const status = videoStatusOf(job);
    if (status === 'completed') throw new GoneError('id', 'The video has expired.');
    throw new ConflictError('id', `The video is ${status} and has no content.`);
  }

  /** The job may have ended concurrently. */
  private async stop(caller: Caller, id: string): Promise<void> {
    try {
      await this.jobs.cancel(caller, id, { modality: 'video' });
    } catch (error) {
      if (!(error instanceof ConflictError)) throw error;
    }
  }

  private async findVideo(tenantId: string, id: string): Promise<JobView | undefined> {
    if (modalityOfJobId(id) !== 'video') return undefined;
    const job = await this.repository.find(tenantId, id);
    return job && isVideo(job) && !job.isDeleted ? job : undefined;
  }
}

function isVideo({ endpoint }: JobView): boolean {
  return endpoint === 'videos';
}

/** SDKs send a form, which can include a file; other clients send JSON. */
async function readVideoBody({ body, headers }: Call): Promise<JsonBody> {
  const isForm = /^multipart\/form-data\b/i.test(headers['content-type'] ?? '');
  if (!isForm) return readJsonBody(body);
  const { fields } = await receiveForm(body, VIDEO_FORM);
  return parseJsonBody(Buffer.from(JSON.stringify(fields)));
}
