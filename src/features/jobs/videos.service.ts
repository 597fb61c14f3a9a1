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

/** Fields of a form that are no texts. */
const VIDEO_FORM: FormShape = {
  lists: new Set(['models']),
  numbers: new Set(['n', 'max_cost']),
  flags: new Set(['stream']),
  objects: new Set(['provider', 'trace', 'metadata', 'input_reference']),
};

/**
 * Video jobs as clients of the videos API know them: made by `POST /v1/videos`, which is what marks them.
 * Others keep the shape of jobs on these paths too.
 */
@Injectable()
export class VideosService {
  constructor(
    private readonly jobs: JobsService,
    private readonly repository: JobsRepository,
    private readonly artifacts: JobArtifacts,
  ) {}

  /** Takes a video in, from JSON or a form. @throws GatewayError when it is not taken in */
  async create(call: Call): Promise<JsonObject> {
    const body = await readVideoBody(call);
    return renderVideo(await this.jobs.takeIn(call, body, 'videos'));
  }

  /** @throws NotFoundError (`id`) */
  async get(caller: Caller, id: string): Promise<JsonObject> {
    const job = await this.jobs.find(caller, id, 'video');
    return isVideo(job) ? renderVideo(job) : this.jobs.render(job);
  }

  /** One page, the newest first unless told otherwise. @throws NotFoundError (`after`) */
  async list(caller: Caller, { limit, order, after }: VideosQueryDto): Promise<JsonObject> {
    const { tenantId } = caller;
    if (after !== undefined && !(await this.findVideo(tenantId, after))) {
      throw new NotFoundError('after', 'There is no video with that id.');
    }
    // One more than asked for tells whether there are more.
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
   * Deletes a video: what is being made of it is stopped, and its file is removed. A job of another
   * origin is cancelled, as on `/v1/jobs`.
   *
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
   * The id of the file of a video that is ready.
   *
   * @throws NotFoundError (`id`); ConflictError (`id`) for one that is not ready, or never will be;
   *   GoneError (`id`) for one whose time is over; InvalidRequestError (`variant`)
   */
  async fileOf(caller: Caller, id: string, variant: unknown): Promise<string> {
    if (variant !== undefined && variant !== 'video') {
      throw new InvalidRequestError('variant', '`variant` must be `video`: nothing else is kept.');
    }
    const job = await this.jobs.find(caller, id, 'video');
    const [file] = job.artifacts;
    if (file) return file.id;
    const status = videoStatusOf(job);
    if (status === 'completed') throw new GoneError('id', 'The video has expired.');
    throw new ConflictError('id', `The video is ${status}, so there is no content of it.`);
  }

  /** It may have ended by itself meanwhile. */
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

/** The SDKs send a form, which may hold a file, and programs send JSON. */
async function readVideoBody({ body, headers }: Call): Promise<JsonBody> {
  const isForm = /^multipart\/form-data\b/i.test(headers['content-type'] ?? '');
  if (!isForm) return readJsonBody(body);
  const { fields } = await receiveForm(body, VIDEO_FORM);
  return parseJsonBody(Buffer.from(JSON.stringify(fields)));
}
