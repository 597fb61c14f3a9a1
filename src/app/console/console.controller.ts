import { Controller, Get, Inject, Req, Res } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import type { Request, Response } from 'express';
import { randomBytes } from 'node:crypto';
import { SessionGate } from '../../core/access/sessions/session-gate.service.js';
import { APP_CONFIG, type AppConfig, type S3Config } from '../../platform/config/app-config.js';
import { NotFoundError } from '../../platform/errors/gateway-errors.js';
import { sendBytes } from '../../platform/http/send-body.js';
import { setPageHeaders } from '../../platform/http/standard-headers.js';
import { ConsoleFiles, type ConsoleFile } from './console-files.js';
import { renderConsoleState } from './console-state.page.js';

const BASE = '/console/';
/** Files whose names change with their content. */
const ASSETS = 'assets/';
const IMMUTABLE = 'public, max-age=31536000, immutable';
/** Placeholder for the nonce that the page's scripts set on styles they create. */
const NONCE = '__CSP_NONCE__';
/** Placeholder: with a session cookie the page fetches the session, otherwise it opens the login. */
const HAS_SESSION_COOKIE = '__HAS_SESSION_COOKIE__';

/** The console: pages for browsers, whose scripts call the API of this origin. */
@ApiExcludeController()
@Controller('console')
export class ConsoleController {
  /** Origins of job results (images, audio, videos), besides this one. */
  private readonly mediaOrigins: string;

  constructor(
    private readonly files: ConsoleFiles,
    private readonly sessions: SessionGate,
    @Inject(APP_CONFIG) { http, s3 }: Pick<AppConfig, 'http' | 's3'>,
  ) {
    const own = http.publicUrl === undefined ? [] : [new URL(http.publicUrl).origin];
    const origins = [...own, ...(s3?.redirect ? bucketOrigins(s3) : [])];
    this.mediaOrigins = origins.map((origin) => ` ${origin}`).join('');
  }

  /**
   * Serves files by path, and the page for every other path, which the page itself interprets.
   *
   * @throws NotFoundError for an unknown asset
   */
  @Get(['', '*path'])
  async serve(@Req() request: Request, @Res() response: Response): Promise<void> {
    const path = request.path.slice(BASE.length);
    const file = path === '' ? undefined : await this.files.find(path);
    if (file) this.sendFile(request, response, file, path.startsWith(ASSETS));
    else if (path.startsWith(ASSETS)) throw unknownAsset();
    else await this.sendPage(request, response);
  }

  private sendFile(
    request: Request,
    response: Response,
    file: ConsoleFile,
    isImmutable: boolean,
  ): void {
    response.setHeader('cache-control', isImmutable ? IMMUTABLE : 'no-cache');
    response.setHeader('cross-origin-resource-policy', 'same-origin');
    // An SVG opened directly is a page.
    setPageHeaders(response, ["default-src 'none'"]);
    response.vary('Accept-Encoding');
    response.setHeader('etag', file.etag);
    if (request.fresh) {
      response.status(304).end();
      return;
    }
    const encoding = (['br', 'gzip'] as const).find(
      (each) => file[each] && request.acceptsEncodings(each) === each,
    );
    if (encoding) response.setHeader('content-encoding', encoding);
    sendBytes(response, 200, (encoding && file[encoding]) ?? file.bytes, file.type);
  }

  private async sendPage(request: Request, response: Response): Promise<void> {
    const nonce = randomNonce();
    this.setPolicy(response, nonce);
    response.setHeader('cache-control', 'no-store');
    const index = await this.files.index();
    if (index !== undefined) {
      const hasCookie = String(this.sessions.tokenOf(request) !== undefined);
      const page = index.replaceAll(NONCE, nonce).replace(HAS_SESSION_COOKIE, hasCookie);
      return sendHtml(response, 200, page);
    }
    const { page, seconds } = renderConsoleState(await this.files.state(), nonce);
    response.setHeader('retry-after', String(seconds));
    // Makes the browser reload without a script.
    response.setHeader('refresh', String(seconds));
    sendHtml(response, 503, page);
  }

  private setPolicy(response: Response, nonce: string): void {
    setPageHeaders(response, [
      "default-src 'none'",
      "script-src 'self'",
      `style-src 'self' 'nonce-${nonce}'`,
      `img-src 'self' data: blob:${this.mediaOrigins}`,
      `media-src 'self' data: blob:${this.mediaOrigins}`,
      "connect-src 'self'",
      "font-src 'self'",
      "manifest-src 'self'",
      "object-src 'none'",
      "base-uri 'none'",
      "form-action 'self'",
      "frame-ancestors 'none'",
    ]);
  }
}

function sendHtml(response: Response, status: number, page: string): void {
  sendBytes(response, status, Buffer.from(page), 'text/html; charset=utf-8');
}

function randomNonce(): string {
  return randomBytes(16).toString('base64');
}

function unknownAsset(): NotFoundError {
  return new NotFoundError('path', 'The console has no such file. Reload the page.');
}

/** Signed URLs use the bucket's host, or the region's host for names with dots. */
function bucketOrigins({ endpoint, bucket, region }: S3Config): string[] {
  if (endpoint !== undefined) return [new URL(endpoint).origin];
  const domain = `s3.${region}.amazonaws.com${region.startsWith('cn-') ? '.cn' : ''}`;
  return [`https://${bucket.includes('.') ? '' : `${bucket}.`}${domain}`];
}
