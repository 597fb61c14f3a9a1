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
  return applyDecorators(UseInterceptors(JsonBodyInterceptor));
}
