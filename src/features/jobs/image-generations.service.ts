import type { ServerResponse } from 'node:http';
import type { Readable } from 'node:stream';
import { Injectable, Logger } from '@nestjs/common';
import type { Caller } from '../../core/access/caller.js';
import { ArtifactUrls } from './artifacts/artifact-urls.js';
import { CatalogueService } from '../../core/catalogue/catalogue.service.js';
import { GatewayError, InternalError } from '../../platform/errors/gateway-errors.js';
import { CallerGoneError } from '../../platform/http/read-body.js';
import { readJsonBody } from '../../platform/http/read-json-body.js';
import { sendJson } from '../../platform/http/send-body.js';
import {
  setCacheHeaders,
  setCostHeader,
  setDroppedParams,
  setProviderHeader,
} from '../../core/answers/answer-headers.js';
import type { Call } from '../../core/answers/call.js';
import { parseImageGeneration } from './image-generation.parse.js';
import { JobArtifacts } from './job-artifacts.service.js';
import { JobOutcomes } from './job-outcomes.service.js';
import { DEADLINE_PASSED, reasonOf, toGatewayError, toJobFailure } from './job-failure.js';
import { JobWaiter } from './job-waiter.service.js';
import type { JobView, JobArtifact } from './job.js';
import { JobsRepository } from './jobs.repository.js';
import { renderUsage } from './render-job.js';
import { CreateJobService } from './create-job.service.js';
import { ArtifactStore } from './artifacts/artifact-store.js';
import { drained } from '../../platform/http/drained.js';
import type { JsonObject } from '../../platform/http/json-body.js';

/** Base64 encodes groups of three bytes. Remaining bytes wait for the next chunk. */
const BYTES_PER_GROUP = 3;

/** Streams images into a JSON response without holding a whole image in memory. */
@Injectable()
export class EncodedImages {
  constructor(private readonly store: ArtifactStore) {}

  /**
   * Opens all files before any is sent.
   * @throws Error when a file is not available on this instance
   */
  async open(artifacts: readonly JobArtifact[]): Promise<Readable[]> {
    const opened = await Promise.allSettled(artifacts.map((artifact) => this.openOne(artifact)));
    const streams = opened.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
    const failed = opened.find((one) => one.status === 'rejected');
    if (!failed) return streams;
    for (const stream of streams) stream.destroy();
    throw failed.reason;
  }

  /**
   * @param rest the response fields besides `data`
   * @throws CallerGoneError when the caller disconnects, or the error of an interrupted file
   */
  async send(
    response: ServerResponse,
    streams: readonly Readable[],
    rest: JsonObject,
  ): Promise<void> {
    try {
      response.writeHead(200, { 'content-type': 'application/json; charset=utf-8' });
      await write(response, `${JSON.stringify(rest).slice(0, -1)},"data":[`);
      for (const [index, stream] of streams.entries()) {
        await write(response, `${index === 0 ? '' : ','}{"b64_json":"`);
        await this.sendEncoded(response, stream);
        await write(response, '"}');
      }
      response.end(']}');
    } finally {
      for (const stream of streams) stream.destroy();
    }
  }

  private async openOne({ id, bytes }: JobArtifact): Promise<Readable> {
    const opened = await this.store.open(id);
    if (!opened) throw new Error(`the file ${id} is not where this instance keeps its artifacts`);
    if (opened.bytes !== bytes) {
      opened.stream.destroy();
      throw new Error(`the file ${id} is stored with another length`);
    }
    // An interrupted stream reports its error when read. Until then, an unhandled `error` event would end the process.
    opened.stream.on('error', () => undefined);
    return opened.stream;
  }

  private async sendEncoded(
    response: ServerResponse,
    pieces: AsyncIterable<Buffer>,
  ): Promise<void> {
    let rest: Buffer = Buffer.alloc(0);
    for await (const piece of pieces) {
      const bytes = rest.length === 0 ? piece : Buffer.concat([rest, piece]);
      const whole = bytes.length - (bytes.length % BYTES_PER_GROUP);
      rest = bytes.subarray(whole);
      await write(response, bytes.toString('base64', 0, whole));
    }
    await write(response, rest.toString('base64'));
  }
}

/** Writes the images of a completed job. */
type SendImages = (response: ServerResponse) => Promise<void>;

/** Generates images synchronously by running a job and waiting for its result. */
@Injectable()
export class ImageGenerationsService {
  private readonly logger = new Logger(ImageGenerationsService.name);

  constructor(
    private readonly creation: CreateJobService,
    private readonly waiter: JobWaiter,
    private readonly repository: JobsRepository,
    private readonly endings: JobOutcomes,
    private readonly artifacts: JobArtifacts,
    private readonly images: EncodedImages,
    private readonly catalogue: CatalogueService,
    private readonly urls: ArtifactUrls,
  ) {}

  /**
   * @returns a function that sends the images; undefined when the caller disconnected
   * @throws GatewayError when generation fails
   */
  async create(call: Call): Promise<SendImages | undefined> {
    const { caller, callerGone, head } = call;
    const body = await readJsonBody(call.body);
    const { parsed, format } = parseImageGeneration(body.value, (alias) =>
      this.catalogue.find(alias),
    );
    const input = { parsed, body, endpoint: 'images' } as const;
    const { id, droppedParams } = await this.creation.create(call, input);
    const job = await this.waiter.wait(caller.tenantId, id, callerGone);
    if (!job) {
      await this.cancel(caller, id);
      return undefined;
    }
    if (job.status !== 'succeeded') throw failureOf(job);
    setDroppedParams(head, droppedParams);
    if (job.provider !== null) setProviderHeader(head, job.provider);
    setCostHeader(head, job.actualCost);
    setCacheHeaders(head, undefined);
    return (response) => this.send(response, job, format);
  }

  private async send(
    response: ServerResponse,
    job: JobView,
    format: 'url' | 'b64_json',
  ): Promise<void> {
    const created = Math.floor(job.createdAt.getTime() / 1_000);
    const usage = job.usage && renderUsage('image', job.usage);
    if (format === 'url') {
      const data = job.artifacts.map(({ id }) => ({ url: this.urls.sign(id, job.expiresAt) }));
      sendJson(response, 200, { created, data, usage });
      return;
    }
    let streams: Readable[];
    try {
      streams = await this.images.open(job.artifacts);
    } catch (error) {
      await this.giveBack(job, error);
      setCostHeader(response, 0);
      throw cannotHandOver(error);
    }
    try {
      const [first] = job.artifacts;
      if (first) await this.artifacts.fetched(first.id);
      await this.images.send(response, streams, { created, usage });
    } catch (error) {
      for (const stream of streams) stream.destroy();
      if (error instanceof CallerGoneError || response.destroyed) return;
      if (!response.headersSent) throw error;
      await this.giveBack(job, error);
      response.destroy();
    }
  }

  /** The images cannot be delivered through no fault of the caller, so they are refunded. */
  private async giveBack(job: JobView, reason: unknown): Promise<void> {
    this.logger.error(`images of ${job.id} cannot be delivered: ${reasonOf(reason)}`);
    try {
      await this.endings.refund(job, { onlyUnfetched: false });
    } catch (error) {
      this.logger.error(`refund of ${job.id} failed: ${reasonOf(error)}`);
    }
  }

  /** Cancels the job of a disconnected caller. */
  private async cancel({ tenantId }: Caller, id: string): Promise<void> {
    const job = await this.repository.findEndable(tenantId, id);
    if (job) await this.endings.cancel(job);
  }
}

function cannotHandOver(cause: unknown): GatewayError {
  const message =
    'The images were generated but cannot be read from storage. Nothing was charged. Send the request again.';
  return new GatewayError(
    {
      status: 503,
      type: 'provider_unavailable',
      param: 'artifacts',
      message,
      retryAfterSeconds: 5,
    },
    { cause },
  );
}

function failureOf({ status, error }: JobView): Error {
  if (status === 'expired') return DEADLINE_PASSED;
  return error ? toGatewayError(error) : toGatewayError(toJobFailure(new InternalError()));
}

async function write(response: ServerResponse, text: string): Promise<void> {
  if (response.destroyed) throw new CallerGoneError();
  if (text !== '' && !response.write(text)) await drained(response);
}
