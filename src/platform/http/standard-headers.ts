import type { NextFunction, Request, Response } from 'express';
import { mintRequestId } from './request-id.js';
import { Timestamp } from '../time/timestamp.js';

/** Of each answer: nobody takes it for something else than it says it is. */
export const NOSNIFF = ['x-content-type-options', 'nosniff'] as const;

/**
 * Of HTML pages: what they load and call is the service's own, scripts stand in files alone, and no
 * other site shows them in a frame. Swagger UI has its own styles within the page.
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

/** What pages never ask for, nor anything that they show. */
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

/** Sets what every HTML page has, with a Content Security Policy of these directives. */
export function setPageHeaders(response: Response, policy: readonly string[]): void {
  response.setHeader('content-security-policy', policy.join('; '));
  response.setHeader('referrer-policy', 'no-referrer');
  // For browsers that know no frame-ancestors.
  response.setHeader('x-frame-options', 'DENY');
  response.setHeader('cross-origin-opener-policy', 'same-origin');
  response.setHeader('permissions-policy', NO_PERMISSIONS);
}

/** A request with its id, as every handler behind the first middleware sees it. */
export interface IdentifiedRequest extends Request {
  requestId: string;
  /** When the request's head had arrived. */
  receivedAt: Date;
}

/**
 * Mints the request's id before anything can fail, so that errors and unknown paths carry it too.
 * `request-id` repeats it for SDKs that read that one. Sets what every answer has besides.
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
