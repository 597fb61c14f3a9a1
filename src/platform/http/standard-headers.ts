import type { NextFunction, Request, Response } from 'express';
import { mintRequestId } from './request-id.js';
import { Timestamp } from '../time/timestamp.js';

/** On every answer: clients must not guess another content type. */
export const NOSNIFF = ['x-content-type-options', 'nosniff'] as const;

/**
 * The CSP of HTML pages: they load and call only this service, run scripts from files only, and cannot be framed.
 * Swagger UI has inline styles.
 */
const PAGE_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
];

/** Features that neither pages nor their content use. */
const NO_PERMISSIONS = ['camera', 'display-capture', 'geolocation', 'microphone', 'payment', 'usb']
  .map((name) => `${name}=()`)
  .join(', ');

export function pageHeadersMiddleware(
  _request: Request,
  response: Response,
  next: NextFunction,
): void {
  setPageHeaders(response, PAGE_POLICY);
  next();
}

/** Sets the headers of every HTML page, with a Content Security Policy of these directives. */
export function setPageHeaders(response: Response, policy: readonly string[]): void {
  response.setHeader('content-security-policy', policy.join('; '));
  response.setHeader('referrer-policy', 'no-referrer');
  // For browsers without frame-ancestors.
  response.setHeader('x-frame-options', 'DENY');
  response.setHeader('cross-origin-opener-policy', 'same-origin');
  response.setHeader('permissions-policy', NO_PERMISSIONS);
}

/** A request with its id, as handlers after the first middleware see it. */
export interface IdentifiedRequest extends Request {
  requestId: string;
  /** When the request's head arrived. */
  receivedAt: Date;
}

/**
 * Creates the request id before anything can fail, so that errors and unknown paths carry it too. `request-id` repeats
 * it for SDKs that read that header. Also sets the headers of every answer.
 */
export function requestIdMiddleware(
  request: IdentifiedRequest,
  response: Response,
  next: NextFunction,
): void {
  request.requestId = mintRequestId();
  request.receivedAt = new Timestamp();
  response.setHeader('x-request-id', request.requestId);
  response.setHeader('request-id', request.requestId);
  response.setHeader(...NOSNIFF);
  next();
}
