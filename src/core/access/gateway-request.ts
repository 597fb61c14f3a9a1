import type { IdentifiedRequest } from '../../platform/http/request-id.middleware.js';
import type { Caller } from './caller.js';
import type { RateLimitDecision } from './rate-limiter.js';

/** A request behind the guards. They read its head only: the body has not arrived yet. */
export interface GatewayRequest extends IdentifiedRequest {
  /** Set by `ApiKeyGuard`. */
  caller?: Caller;
  /** Set by `RateLimitGuard`. */
  rateLimit?: RateLimitDecision;
}
