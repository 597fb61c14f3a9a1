import { randomUUID } from 'node:crypto';
import type { NextFunction, Request, Response } from 'express';

/** A request with its id, as every handler behind the first middleware sees it. */
export interface IdentifiedRequest extends Request {
  requestId: string;
  /** When the request's head had arrived. */
  receivedAt: Date;
}

/**
 * Mints the request's id before anything can fail, so that errors and unknown paths carry it too.
 * `request-id` repeats it for SDKs that read that one.
 */
export function requestIdMiddleware(
  request: Request,
  response: Response,
  next: NextFunction,
): void {
  const identified = request as IdentifiedRequest;
  identified.requestId = randomUUID();
  identified.receivedAt = new Date();
  response.setHeader('x-request-id', identified.requestId);
  response.setHeader('request-id', identified.requestId);
  next();
}
