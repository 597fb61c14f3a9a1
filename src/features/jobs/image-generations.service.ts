import { Injectable, Logger } from '@nestjs/common';
import type { Response } from 'express';
import type { Caller } from '../../core/access/caller.js';
import type { GatewayRequest } from '../../core/access/gateway-request.js';
import { setRateLimitHeaders } from '../../core/access/rate-limit-headers.js';
import { ArtifactUrls } from './artifacts/artifact-urls.js';
import { CatalogueService } from '../../core/catalogue/catalogue.service.js';
import { InternalError } from '../../platform/errors/gateway-errors.js';
import { CallerGoneError } from '../../platform/http/read-body.js';
import { readJsonBody } from '../../platform/http/read-json-body.js';
import { sendJson } from '../../platform/http/send-json.js';
import { callerGoneSignal } from '../../core/answers/caller-gone.js';
import { setDroppedParams } from '../../core/answers/deliver-stream.js';
import { EncodedImages } from './encoded-images.js';
import { parseImageGeneration } from './image-generation.parse.js';
import { JobArtifacts } from './job-artifacts.service.js';
import { JobEndings } from './job-endings.service.js';
import { DEADLINE_PASSED, toGatewayError, toJobFailure } from './job-failure.js';
import { JobWaiter } from './job-waiter.service.js';
import type { JobView } from './job.js';
import { JobsRepository } from './jobs.repository.js';
import { renderUsage } from './render-job.js';
import { SubmitJobService } from './submit-job.service.js';

/** Pictures while the caller waits: a job like any other, with its end as the answer. */
@Injectable()
export class ImageGenerationsService {
  private readonly logger = new Logger(ImageGenerationsService.name);

  constructor(
    private readonly submission: SubmitJobService,
    private readonly waiter: JobWaiter,
    private readonly repository: JobsRepository,
    private readonly endings: JobEndings,
    private readonly artifacts: JobArtifacts,
    private readonly images: EncodedImages,
    private readonly catalogue: CatalogueService,
    private readonly urls: ArtifactUrls,
  ) {}

  /** Answers one call. @throws GatewayError before anything was sent */
  async create(caller: Caller, received: GatewayRequest, response: Response): Promise<void> {
    if (received.rateLimit) setRateLimitHeaders(response, received.rateLimit);
    const callerGone = callerGoneSignal(response);
    const body = await readJsonBody(received);
    const { parsed, format } = parseImageGeneration(body.value, (alias) =>
      this.catalogue.find(alias),
    );
    const input = { parsed, body, endpoint: 'images' } as const;
    const { id, droppedParams } = await this.submission.submit(caller, received, response, input);
    const job = await this.waiter.wait(caller.tenantId, id, callerGone);
    if (!job) {
      await this.cancel(caller, id);
      return;
    }
    if (job.status !== 'succeeded') throw failureOf(job);
    setDroppedParams(response, droppedParams);
    if (job.provider !== null) response.setHeader('X-Gateway-Provider', job.provider);
    response.setHeader('X-Gateway-Cost', job.actualCost);
    response.setHeader('X-Cache', 'MISS');
    await this.send(response, job, format);
  }

  private async send(response: Response, job: JobView, format: 'url' | 'b64_json'): Promise<void> {
    const created = Math.floor(job.createdAt.getTime() / 1_000);
    const usage = job.usage && renderUsage('image', job.usage);
    if (format === 'url') {
      const data = job.artifacts.map(({ id }) => ({ url: this.urls.sign(id, job.expiresAt) }));
      sendJson(response, 200, { created, data, usage });
      return;
    }
    const [first] = job.artifacts;
    if (first) await this.artifacts.fetched(first.id);
    try {
      await this.images.send(response, job.artifacts, { created, usage });
    } catch (error) {
      if (error instanceof CallerGoneError || response.destroyed) return;
      if (!response.headersSent) throw error;
      this.logger.error(error);
      response.destroy();
    }
  }

  /** Nobody waits any more. */
  private async cancel({ tenantId }: Caller, id: string): Promise<void> {
    const job = await this.repository.findEndable(tenantId, id);
    if (job) await this.endings.cancel(job);
  }
}

function failureOf({ status, error }: JobView): Error {
  if (status === 'expired') return DEADLINE_PASSED;
  return error ? toGatewayError(error) : toGatewayError(toJobFailure(new InternalError()));
}
