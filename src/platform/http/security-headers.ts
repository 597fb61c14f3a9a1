import type { NextFunction, Request, Response } from 'express';

/** Of each answer: nobody takes it for something else than it says it is. */
export const NOSNIFF = ['x-content-type-options', 'nosniff'] as const;

/**
 * Of HTML pages: what they load and call is the service's own, scripts stand in files alone, and no
 * other site shows them in a frame. Swagger UI has its own styles within the page.
 */
export const PAGE_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

export function pageHeadersMiddleware(
  _request: Request,
  response: Response,
  next: NextFunction,
): void {
  response.setHeader('content-security-policy', PAGE_POLICY);
  response.setHeader('referrer-policy', 'no-referrer');
  // For browsers that know no frame-ancestors.
  response.setHeader('x-frame-options', 'DENY');
  next();
}
