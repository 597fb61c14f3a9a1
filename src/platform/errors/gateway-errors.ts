/** The `type` values of the error body, one per kind of failure that callers can distinguish. */
export const GATEWAY_ERROR_TYPES = [
  'invalid_request_error',
  'invalid_provider_key',
  'authentication_error',
  'insufficient_credits',
  'budget_exceeded',
  'permission_error',
  'guardrail_violation',
  'not_found_error',
  'conflict_error',
  'rate_limit_error',
  'internal_error',
  'provider_error',
  'provider_unavailable',
  'timeout_error',
] as const;
export type GatewayErrorType = (typeof GATEWAY_ERROR_TYPES)[number];

export interface GatewayErrorFields {
  status: number;
  type: GatewayErrorType;
  /** The field, header, path parameter or resource at fault; never empty. */
  param: string;
  message: string;
  /** Seconds, at least 1; sent as `Retry-After`. */
  retryAfterSeconds?: number;
  /** The gateway's own limit that refused, for its metric: one of a few names. */
  limit?: string;
  /** Extra response headers, such as `Allow` on a 405. */
  headers?: Record<string, string>;
  /** Machine-readable details, sent as `error.details`. */
  details?: Readonly<Record<string, unknown>>;
}

/**
 * The base of every failure that callers see. `message` is written for them: it says what is wrong and what to
 * do, and reveals nothing about the service or a vendor.
 */
export class GatewayError extends Error {
  readonly status: number;
  readonly type: GatewayErrorType;
  readonly param: string;
  readonly retryAfterSeconds: number | undefined;
  readonly limit: string | undefined;
  readonly headers: Readonly<Record<string, string>>;
  readonly details: Readonly<Record<string, unknown>> | undefined;

  constructor(fields: GatewayErrorFields, options?: ErrorOptions) {
    // The stack of a refusal is never read, and capturing it costs more than the rest of the refusal.
    const { stackTraceLimit } = Error;
    if (fields.status !== 500) Error.stackTraceLimit = 0;
    super(fields.message, options);
    Error.stackTraceLimit = stackTraceLimit;
    this.name = new.target.name;
    this.status = fields.status;
    this.type = fields.type;
    this.param = fields.param;
    this.retryAfterSeconds = fields.retryAfterSeconds;
    this.limit = fields.limit;
    this.headers = fields.headers ?? {};
    this.details = fields.details;
  }
}

export class InvalidRequestError extends GatewayError {
  constructor(
    param: string,
    message: string,
    status: 400 | 405 | 408 | 413 | 415 | 417 | 431 = 400,
  ) {
    super({ status, type: 'invalid_request_error', param, message });
  }
}

/** Error code that some clients expect for a prompt that is too long. */
export const PROMPT_TOO_LONG = 'context_length_exceeded';

/** The conversation exceeds the context window. Agents shorten it when they recognize the wording; each phrase here is some agent's. */
export class PromptTooLongError extends InvalidRequestError {
  /** @param words the vendor's message */
  constructor(param: string, words: string) {
    super(
      param,
      `The prompt is too long: it exceeds the context window of this model (${PROMPT_TOO_LONG}). ${words}`,
    );
  }
}

/** The vendor rejects the key of a BYOK account. */
export class InvalidProviderKeyError extends GatewayError {
  constructor(message: string) {
    super({ status: 400, type: 'invalid_provider_key', param: 'key', message });
  }
}

export class AuthenticationError extends GatewayError {
  constructor(message: string) {
    super({ status: 401, type: 'authentication_error', param: 'authorization', message });
  }
}

export class InsufficientCreditsError extends GatewayError {
  constructor(message: string) {
    super({ status: 402, type: 'insufficient_credits', param: 'credits', message });
  }
}

/** A monthly spend limit of the key or its tenant is exhausted. */
export class SpendLimitError extends GatewayError {
  constructor(message: string) {
    super({ status: 402, type: 'insufficient_credits', param: 'monthly_spend_limit', message });
  }
}

/** A budget of the tenant, the key or the end user is exhausted. */
export class BudgetExceededError extends GatewayError {
  /**
   * @param param the budget, such as `api_key.budgets.day`
   * @param renewsAt when the next period starts; null: never
   */
  constructor(param: string, message: string, renewsAt: Date | null) {
    const details = { renews_at: renewsAt?.toISOString() ?? null };
    super({ status: 402, type: 'budget_exceeded', param, message, details });
  }
}

/** Every route could cost more than the caller allows. */
export class MaxCostError extends GatewayError {
  constructor(message: string) {
    super({ status: 402, type: 'budget_exceeded', param: 'max_cost', message });
  }
}

export class PermissionError extends GatewayError {
  constructor(message: string, param = 'authorization') {
    super({ status: 403, type: 'permission_error', param, message });
  }
}

/** A guardrail blocks the request. The message names the guardrail, never the text. */
export class GuardrailViolationError extends GatewayError {
  constructor(param: string, message: string) {
    super({ status: 403, type: 'guardrail_violation', param, message });
  }
}

/** A guardrail withholds an answer. The vendor has done the work, so it is charged. */
export class AnswerWithheldError extends GuardrailViolationError {}

export class NotFoundError extends GatewayError {
  constructor(param: string, message: string) {
    super({ status: 404, type: 'not_found_error', param, message });
  }
}

/** The resource existed and is no longer available. */
export class GoneError extends GatewayError {
  constructor(param: string, message: string) {
    super({ status: 410, type: 'not_found_error', param, message });
  }
}

/** The request conflicts with existing state. */
export class ConflictError extends GatewayError {
  constructor(param: string, message: string) {
    super({ status: 409, type: 'conflict_error', param, message });
  }
}

export class RateLimitError extends GatewayError {
  /** @param limit the gateway's own limit, if one refused */
  constructor(param: string, message: string, retryAfterSeconds: number, limit?: string) {
    super({
      status: 429,
      type: 'rate_limit_error',
      param,
      message,
      retryAfterSeconds,
      ...(limit !== undefined && { limit }),
    });
  }
}

/** This process has no capacity for the request right now. */
export class OverloadedError extends GatewayError {
  constructor(param: string, message: string, retryAfterSeconds: number, limit: string) {
    super({ status: 503, type: 'provider_unavailable', param, message, retryAfterSeconds, limit });
  }
}

/** Most failovers take less. */
export const DATABASE_RETRY_AFTER_SECONDS = 5;

export class InternalError extends GatewayError {
  constructor(options?: ErrorOptions) {
    super(
      {
        status: 500,
        type: 'internal_error',
        param: 'gateway',
        message:
          'The gateway failed to handle this request. Try again; if it persists, report the x-request-id.',
      },
      options,
    );
  }
}

/** Every route failed for reasons other than the caller's. */
export class ProviderError extends GatewayError {
  constructor(message: string, options?: ErrorOptions & { param?: string }) {
    super(
      { status: 502, type: 'provider_error', param: options?.param ?? 'model', message },
      options,
    );
  }
}

/** A started answer exceeded what the gateway reads; its output is charged. */
export class AnswerLimitError extends ProviderError {}

/** Every vendor that was called is overloaded. */
export class ProviderOverloadedError extends ProviderError {}

/** No configured provider serves the model. */
export class ProviderUnavailableError extends GatewayError {
  constructor(message: string) {
    super({ status: 503, type: 'provider_unavailable', param: 'model', message });
  }
}

/** The database is unavailable or rejects writes. A retry in a few seconds may succeed. */
export class DatabaseUnavailableError extends GatewayError {
  constructor(options?: ErrorOptions) {
    super(
      {
        status: 503,
        type: 'provider_unavailable',
        param: 'database',
        message:
          'The database is unavailable or rejects writes. Send the request again in a few seconds.',
        retryAfterSeconds: DATABASE_RETRY_AFTER_SECONDS,
      },
      options,
    );
  }
}

/** This process is stopping and its drain limit has passed. Another instance can answer. */
export class ServiceStopsError extends GatewayError {
  constructor() {
    const message = 'The service is being stopped. Send the request again.';
    super({ status: 503, type: 'provider_unavailable', param: 'model', message });
  }
}

export class TimeoutError extends GatewayError {
  constructor(message: string) {
    super({ status: 504, type: 'timeout_error', param: 'model', message });
  }
}

/** A started answer took longer than the gateway allows; its output is charged. */
export class RequestTimeError extends TimeoutError {}

/** The caller read too slowly; the ledger treats it as disconnected. */
export class SlowReaderError extends TimeoutError {}
