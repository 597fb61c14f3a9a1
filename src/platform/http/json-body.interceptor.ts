import {
  Injectable,
  UseInterceptors,
  applyDecorators,
  type CallHandler,
  type ExecutionContext,
  type NestInterceptor,
} from '@nestjs/common';
import type { Request } from 'express';
import type { Observable } from 'rxjs';
import { ApiErrorResponse } from '../errors/api-error-response.decorator.js';
import { readJsonBody } from './read-json-body.js';

/**
 * Reads the body for handlers with an `@Body()` DTO. There is no global body parser: interceptors
 * run after the guards, so a caller without a valid key never gets to upload anything.
 */
@Injectable()
export class JsonBodyInterceptor implements NestInterceptor {
  async intercept(context: ExecutionContext, next: CallHandler): Promise<Observable<unknown>> {
    const request = context.switchToHttp().getRequest<Request>();
    request.body = (await readJsonBody(request)).value;
    return next.handle();
  }
}

/** Marks a handler that takes a JSON body through a class-validator DTO. */
export function ReadsJsonBody(): ReturnType<typeof applyDecorators> {
  return applyDecorators(
    UseInterceptors(JsonBodyInterceptor),
    ApiErrorResponse(408, 'The body arrived too slowly.'),
    ApiErrorResponse(413, 'The body is larger than 20 MB.'),
    ApiErrorResponse(415, 'The body is not JSON.'),
  );
}
