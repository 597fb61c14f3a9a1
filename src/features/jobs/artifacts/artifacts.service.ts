import type { IncomingMessage, ServerResponse } from 'node:http';
import { Injectable } from '@nestjs/common';
import { GatewayError, GoneError, NotFoundError } from '../../../platform/errors/gateway-errors.js';
import { BodyBudget } from '../../../platform/http/body-budget.js';
import { JobArtifacts, type ServableArtifact } from '../job-artifacts.service.js';
import { ArtifactStore, type ByteRange } from './artifact-store.js';
import { ArtifactUrls } from './artifact-urls.js';
import { sendFile, parseRange, ARTIFACT_HEADERS, presentArtifact } from './artifact-response.js';

/** Lifetime of the bucket URL that a redirect points to. */
const REDIRECT_LIFETIME_SECONDS = 60;

/** Raw query parameters of an artifact URL. */
export interface SignedQuery {
  readonly expires: unknown;
  readonly signature: unknown;
}

/** Serves artifacts to holders of a signed URL. */
@Injectable()
export class ArtifactsService {
  constructor(
    private readonly artifacts: JobArtifacts,
    private readonly store: ArtifactStore,
    private readonly urls: ArtifactUrls,
    private readonly bodies: BodyBudget,
  ) {}

  /**
   * Answers GET and HEAD with the file, a range of it or a redirect to the bucket.
   * @throws NotFoundError for an invalid signature or a missing artifact
   * @throws GoneError after the expiry
   * @throws GatewayError 416 for a range that starts after the end
   */
  async serveSigned(
    id: string,
    query: SignedQuery,
    request: IncomingMessage,
    response: ServerResponse,
  ): Promise<void> {
    this.assertSigned(id, query);
    await this.serve(id, request, response);
  }

  /** Serves an artifact to a caller whose access has been checked. */
  async serve(id: string, request: IncomingMessage, response: ServerResponse): Promise<void> {
    const artifact = await this.find(id);
    const { contentType, contentDisposition } = presentArtifact(id, artifact.contentType);
    // An artifact never changes once its URL has been handed out.
    const etag = `"${id}"`;
    if (isKnown(request.headers['if-none-match'], etag)) {
      response.writeHead(304, { ...ARTIFACT_HEADERS, etag }).end();
      return;
    }
    const headers = {
      ...ARTIFACT_HEADERS,
      etag,
      'content-type': contentType,
      'content-disposition': contentDisposition,
    };
    if (request.method === 'HEAD') {
      // HEAD takes no range, and a URL presigned for GET would reject it.
      response.writeHead(200, { ...headers, 'content-length': artifact.bytes }).end();
      return;
    }
    const location = await this.store.presign(id, {
      contentType,
      contentDisposition,
      lifetimeSeconds: REDIRECT_LIFETIME_SECONDS,
    });
    if (location !== undefined) {
      await this.noteFetched(id);
      response.writeHead(302, { ...REDIRECT_HEADERS, location }).end();
      return;
    }
    const range = rangeOf(request, etag, artifact.bytes);
    const opened = await this.store.open(id, range);
    if (!opened) throw unknown();
    if (opened.bytes !== artifact.bytes) {
      opened.stream.destroy();
      throw new Error(`the artifact ${id} is stored with another length`);
    }
    const length = range ? range.end - range.start + 1 : opened.bytes;
    await sendFile(response, opened.stream, {
      share: this.bodies.shareOf(artifact.tenantId),
      status: range ? 206 : 200,
      headers: {
        ...headers,
        'content-length': length,
        ...(range && { 'content-range': `bytes ${range.start}-${range.end}/${opened.bytes}` }),
      },
      onFirstBytes: () => this.noteFetched(id),
    });
  }

  private assertSigned(id: string, { expires, signature }: SignedQuery): void {
    if (typeof expires !== 'string' || typeof signature !== 'string') throw unknown();
    if (!this.urls.verify(id, expires, signature)) throw unknown();
    if (Number(expires) * 1000 <= Date.now()) throw gone();
  }

  /** @throws GoneError when the job was refunded in the meantime */
  private async noteFetched(id: string): Promise<void> {
    if (!(await this.artifacts.fetched(id))) throw gone();
  }

  private async find(id: string): Promise<ServableArtifact> {
    const artifact = await this.artifacts.lookUp(id);
    if (artifact === 'unknown') throw unknown();
    if (artifact === 'expired') throw gone();
    return artifact;
  }
}

const REDIRECT_HEADERS = {
  'cache-control': 'private, no-store',
  'content-length': 0,
  'referrer-policy': 'no-referrer',
};

/** Returns undefined for the whole file. */
function rangeOf(request: IncomingMessage, etag: string, bytes: number): ByteRange | undefined {
  const condition = request.headers['if-range'];
  if (condition !== undefined && condition !== etag) return undefined;
  const range = parseRange(request.headers.range, bytes);
  if (range === 'unsatisfiable') {
    throw new GatewayError({
      status: 416,
      type: 'invalid_request_error',
      param: 'range',
      message: `The range starts after the end of the artifact (${bytes} bytes).`,
      headers: { 'content-range': `bytes */${bytes}` },
    });
  }
  return range === 'whole' ? undefined : range;
}

/** Returns whether `If-None-Match` names the current version. */
function isKnown(header: string | undefined, etag: string): boolean {
  if (header === undefined) return false;
  const known = header.split(',').map((entry) => entry.trim().replace(/^W\//, ''));
  return known.includes(etag) || known.includes('*');
}

/** The same error for bad signatures and missing artifacts, so that ids cannot be probed. */
function unknown(): NotFoundError {
  return new NotFoundError(
    'artifact',
    'The artifact does not exist or its URL is invalid. Read the job again for a current URL.',
  );
}

function gone(): GoneError {
  return new GoneError('artifact', 'The artifact has expired.');
}
