import type { BodyShare } from '../../platform/http/body-budget.js';
import type { IdentifiedRequest } from '../../platform/http/standard-headers.js';
import type { Caller } from './caller.js';
import type { RateLimitDecision } from './rate-limiter.js';

/** A request behind the guards. They read its head only: the body has not arrived yet. */
export interface GatewayRequest extends IdentifiedRequest {
  /** Set by `ApiKeyGuard`. */
  caller?: Caller;
  /** Set by `ApiKeyGuard`: what the body may take of the memory for bodies. */
  bodyShare?: BodyShare;
  /** Set by `RateLimitGuard`. */
  rateLimit?: RateLimitDecision;
}
