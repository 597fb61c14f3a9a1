import { InvalidRequestError } from '../errors/gateway-errors.js';
import type { BudgetedRequest } from './body-budget.js';
import { PartLimit, parseJsonBody, type JsonBody } from './json-body.js';
import { formatBytes, readBody } from './read-body.js';
import { spliceMembers } from './top-level-members.js';
import {
  UseInterceptors,
  applyDecorators,
  type CallHandler,
  type ExecutionContext,
  type NestInterceptor,
} from '@nestjs/common';
import type { Request } from 'express';
import type { Observable } from 'rxjs';
import { ApiErrorResponse } from '../errors/error-response.js';

/**
 * Reads the body for handlers with an `@Body()` DTO. There is no global body parser: interceptors run after the guards,
 * so callers without a valid key cannot upload anything.
 */
class JsonBodyInterceptor implements NestInterceptor {
  constructor(private readonly maxBytes: number) {}

  async intercept(context: ExecutionContext, next: CallHandler): Promise<Observable<unknown>> {
    const request = context.switchToHttp().getRequest<Request>();
    request.body = (await readJsonBody(request, this.maxBytes)).value;
    return next.handle();
  }
}

/** The interface's limit on bodies: 20 MB. */
const MAX_JSON_BODY_BYTES = 20_000_000;

/** Reads and parses a JSON body. @throws as `readBody` and `parseJsonBody` do */
export async function readJsonBody(
  request: BudgetedRequest,
  maxBytes = MAX_JSON_BODY_BYTES,
): Promise<JsonBody> {
  const contentType = request.headers['content-type'];
  if (contentType !== undefined && !isJson(contentType)) {
    throw new InvalidRequestError(
      'content-type',
      `Content-Type ${JSON.stringify(contentType.slice(0, 80))} is not supported; send application/json.`,
      415,
    );
  }
  const inspector = new PartLimit();
  const bytes = await readBody(request, { maxBytes, inspector });
  const body = parseJsonBody(bytes, { lease: request.bodyLease, scanned: inspector.scanner });
  return request.membersOfPath ? withMembers(body, request.membersOfPath) : body;
}

function withMembers(body: JsonBody, members: Readonly<Record<string, string>>): JsonBody {
  const edits = Object.entries(members).filter(([name, value]) => body.value[name] !== value);
  if (edits.length === 0) return body;
  const spelled = edits.map(([name, value]): [string, string] => [name, JSON.stringify(value)]);
  return parseJsonBody(spliceMembers(body.bytes, body.members, new Map(spelled)));
}

function isJson(contentType: string): boolean {
  if (contentType === 'application/json') return true;
  const mediaType = contentType.split(';', 1)[0]!.trim().toLowerCase();
  return mediaType === 'application/json' || mediaType.endsWith('+json');
}

/**
 * Marks a handler that takes a JSON body as a class-validator DTO.
 *
 * @param maxBytes below the interface's 20 MB for unauthenticated handlers
 */
export function ReadsJsonBody(maxBytes = MAX_JSON_BODY_BYTES): ReturnType<typeof applyDecorators> {
  return applyDecorators(
    UseInterceptors(new JsonBodyInterceptor(maxBytes)),
    ApiErrorResponse(408, 'The body arrived too slowly.'),
    ApiErrorResponse(413, `The body is larger than ${formatBytes(maxBytes)}.`),
    ApiErrorResponse(415, 'The body is not JSON.'),
  );
}
