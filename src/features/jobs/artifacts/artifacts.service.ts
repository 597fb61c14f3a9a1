import type { IncomingMessage, ServerResponse } from 'node:http';
import { Injectable } from '@nestjs/common';
import { GatewayError, GoneError, NotFoundError } from '../../../platform/errors/gateway-errors.js';
import { BodyBudget } from '../../../platform/http/body-budget.js';
import { JobArtifacts, type ServableArtifact } from '../job-artifacts.service.js';
import { ArtifactStore, type ByteRange } from './artifact-store.js';
import { ArtifactUrls } from './artifact-urls.js';
import { sendFile, parseRange, ARTIFACT_HEADERS, presentArtifact } from './artifact-response.js';

/** How long a browser has to follow the redirect. */
const REDIRECT_LIFETIME_SECONDS = 60;

/** The query of an artifact's URL, as it came. */
export interface SignedQuery {
  readonly expires: unknown;
  readonly signature: unknown;
}

/** Serves artifacts to whoever has their signed URL. */
@Injectable()
export class ArtifactsService {
  constructor(
    private readonly artifacts: JobArtifacts,
    private readonly store: ArtifactStore,
    private readonly urls: ArtifactUrls,
    private readonly bodies: BodyBudget,
  ) {}

  /**
   * Answers a GET or HEAD: with the bytes or the part asked for, or with a redirect to the bucket.
   *
   * @throws NotFoundError for what was never signed or is not there
   * @throws GoneError after the expiry
   * @throws GatewayError 416 for a range that begins behind the end
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

  /** The same for a caller who has shown that it is theirs. */
  async serve(id: string, request: IncomingMessage, response: ServerResponse): Promise<void> {
    const artifact = await this.find(id);
    const { contentType, contentDisposition } = presentArtifact(id, artifact.contentType);
    // What lies under an id does not change once it has been given out.
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
      // A HEAD has no ranges, and a URL signed for a GET would not take it.
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

  /** @throws GoneError when it was paid back while it was opened */
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

/** Undefined: the whole file. */
function rangeOf(request: IncomingMessage, etag: string, bytes: number): ByteRange | undefined {
  const condition = request.headers['if-range'];
  if (condition !== undefined && condition !== etag) return undefined;
  const range = parseRange(request.headers.range, bytes);
  if (range === 'unsatisfiable') {
    throw new GatewayError({
      status: 416,
      type: 'invalid_request_error',
      param: 'range',
      message: `The range begins behind the end; the artifact has ${bytes} bytes.`,
      headers: { 'content-range': `bytes */${bytes}` },
    });
  }
  return range === 'whole' ? undefined : range;
}

/** Whether an `If-None-Match` header names what the caller would get. */
function isKnown(header: string | undefined, etag: string): boolean {
  if (header === undefined) return false;
  const known = header.split(',').map((entry) => entry.trim().replace(/^W\//, ''));
  return known.includes(etag) || known.includes('*');
}

/** The same for a bad signature and for what is not there, so that nobody can guess ids. */
function unknown(): NotFoundError {
  return new NotFoundError(
    'artifact',
    'There is no such artifact, or its URL is not the one that was given out; read the job again.',
  );
}

function gone(): GoneError {
  return new GoneError('artifact', 'The artifact has expired and is not available any more.');
}
