import { CallHandler, ExecutionContext, Injectable, NestInterceptor } from '@nestjs/common';
import type { Response } from 'express';
import type { Observable } from 'rxjs';
import type { GatewayRequest } from './gateway-request.js';
import { setRateLimitHeaders } from './rate-limit-headers.js';

/** Puts the guard's decision on the answer, before a handler may send its head. */
@Injectable()
export class RateLimitInterceptor implements NestInterceptor {
  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const http = context.switchToHttp();
    const { rateLimit } = http.getRequest<GatewayRequest>();
    if (rateLimit) setRateLimitHeaders(http.getResponse<Response>(), rateLimit);
    return next.handle();
  }
}
