import type { CanonicalRequest } from '../../canonical/canonical-request.js';
import { conversationField } from '../../canonical/prompt-fields.js';
import type { WorkRequest } from '../../canonical/work-request.js';
import {
  AnswerLimitError,
  GatewayError,
  InternalError,
  InvalidRequestError,
  PromptTooLongError,
  ProviderError,
  ProviderOverloadedError,
  RateLimitError,
  RequestTimeError,
  SlowReaderError,
  TimeoutError,
} from '../../platform/errors/gateway-errors.js';
import { UpstreamError, type UpstreamFailure } from '../../vendors/upstream-error.js';
import type { PlannedRoute } from './plan.js';

export interface RouteFailure {
  route: PlannedRoute;
  error: UpstreamError;
}

/** Failures caused by the request itself; a 400 when there are no others. */
const CALLER_FAILURES = new Set<UpstreamFailure>(['caller', 'context_length', 'unsupported']);

/**
 * Builds the error for a request that no route answered: 400 when every vendor rejects the request,
 * 429 when all rate limit it, 504 when all time out, else 502. Only the last failure of each route
 * counts, and routes that cannot do such work are ignored. Vendors' own words are passed on only
 * where they concern the caller's request.
 *
 * @param request names the fields in the caller's dialect
 */
export function callerErrorOf(
  failures: readonly RouteFailure[],
  request: Pick<CanonicalRequest, 'dialect'> | Pick<WorkRequest, 'kind'>,
): GatewayError {
  const last = failures.at(-1);
  if (!last) return new InternalError();
  // A retried route is judged by its last failure.
  const lastWords = [...new Map(failures.map((failure) => [failure.route, failure])).values()];
  const isCallers = lastWords.every(({ error }) => CALLER_FAILURES.has(error.failure));
  if (last.error.failure === 'caller' || isCallers) {
    const isTooLong = last.error.failure === 'context_length';
    const param = last.error.param ?? (isTooLong ? promptFieldOf(request) : 'body');
    const Refusal = isTooLong && 'dialect' in request ? PromptTooLongError : InvalidRequestError;
    return new Refusal(param, last.error.message);
  }
  const tried = listRoutes(lastWords);
  // A vendor that cannot do the work says nothing about the others.
  const able = lastWords.filter(({ error }) => error.failure !== 'unsupported');
  if (able.every(({ error }) => error.failure === 'rate_limited')) {
    const waitsMs = able.map(({ error }) => error.retryAfterMs ?? 1000);
    return new RateLimitError(
      'model',
      `Rate limited by ${tried}. Try again later, or add fallback models.`,
      Math.max(1, Math.ceil(Math.min(...waitsMs) / 1000)),
    );
  }
  if (able.every(({ error }) => error.isTimeout)) {
    return new TimeoutError(`Timed out: ${tried}. Try again, or add fallback models.`);
  }
  const isOwnAccount = lastWords.some(
    ({ route, error }) => route.byok !== undefined && error.failure === 'operator',
  );
  if (isOwnAccount) {
    return new ProviderError(
      `No provider could answer; tried ${tried}. Check the key, quota and models of your ` +
        'own account, and replace the credential if it has changed.',
      { cause: last.error, param: OWN_ACCOUNT_PARAM },
    );
  }
  const Failure = able.every(({ error }) => isOverload(error))
    ? ProviderOverloadedError
    : ProviderError;
  return new Failure(`No provider could answer; tried ${tried}. Try again later.`, {
    cause: last.error,
  });
}

/** How some vendors report overload. */
function isOverload({ status }: UpstreamError): boolean {
  return status === 529;
}

const PROMPT_FIELDS: Record<WorkRequest['kind'], string> = {
  embedding: 'input',
  speech: 'input',
  transcription: 'file',
  image: 'prompt',
  video: 'prompt',
};

/** Returns the field that holds the prompt. */
function promptFieldOf(
  request: Pick<CanonicalRequest, 'dialect'> | Pick<WorkRequest, 'kind'>,
): string {
  return 'dialect' in request ? conversationField(request.dialect) : PROMPT_FIELDS[request.kind];
}

/** Builds the error for an answer that was interrupted after it began. */
export function brokenAnswerError(route: PlannedRoute, error: UpstreamError): GatewayError {
  if (error.failure === 'slow_reader') {
    return new SlowReaderError(
      'The answer was read too slowly and was cut. Read faster, or request a shorter answer.',
    );
  }
  if (error.isRequestOver) {
    return new RequestTimeError(
      'The answer exceeded the time limit and was cut. Generated output is charged. Request a shorter answer.',
    );
  }
  if (error.isBeyondLimit) {
    return new AnswerLimitError(
      `The answer from ${route.provider} exceeded the size or nesting limit and was cut. Generated output is charged. Request a shorter answer.`,
      { cause: error },
    );
  }
  if (error.failure === 'timeout') {
    return new TimeoutError(`The answer from ${route.provider} timed out. Try again.`);
  }
  const Failure = isOverload(error) ? ProviderOverloadedError : ProviderError;
  return new Failure(`The answer from ${route.provider} was interrupted.`, {
    cause: error,
  });
}

const WORDS: Record<UpstreamFailure, string> = {
  connect: 'could not be reached',
  reset: 'closed the connection',
  timeout: 'timed out',
  rate_limited: 'rate limited',
  server: 'failed',
  operator: "refused the gateway's account",
  caller: 'refused the request',
  context_length: 'prompt too long',
  unsupported: 'unsupported request',
  unreadable: 'returned an unreadable answer',
  cut: 'interrupted',
  slow_reader: 'caller read too slowly',
};

/** `param` of errors about a tenant's own account. */
const OWN_ACCOUNT_PARAM = 'provider-credentials';
const OWN_ACCOUNT_WORDS = 'the credential was rejected, is out of quota or lacks the model';

function listRoutes(failures: readonly RouteFailure[]): string {
  const entries = failures.map(({ route, error }) => {
    const { failure } = error;
    if (!route.byok) return `${route.provider} for ${route.model} (${WORDS[failure]})`;
    const words = failure === 'operator' ? OWN_ACCOUNT_WORDS : WORDS[failure];
    return `${route.provider} with your own credential for ${route.model} (${words})`;
  });
  return [...new Set(entries)].join(', ');
}
