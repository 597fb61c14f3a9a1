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

/** Failures that another request would not have met; a 400 when there is nothing else. */
const CALLERS_TO_MEND = new Set<UpstreamFailure>(['caller', 'context_length', 'unsupported']);

/**
 * What the caller is told when no route answered: a 400 for a request that no vendor would take,
 * 429 when all asked for less traffic, 504 when all timed out, else 502. What counts is the last word
 * of each route; one that cannot do such work at all has none in it. Vendors' own words are
 * only passed on where they are about the caller's request.
 *
 * @param request in whose caller's words fields are named
 */
export function callerErrorOf(
  failures: readonly RouteFailure[],
  request: Pick<CanonicalRequest, 'dialect'> | Pick<WorkRequest, 'kind'>,
): GatewayError {
  const last = failures.at(-1);
  if (!last) return new InternalError();
  // A route that was asked again is judged by what it said last.
  const lastWords = [...new Map(failures.map((failure) => [failure.route, failure])).values()];
  const isCallers = lastWords.every(({ error }) => CALLERS_TO_MEND.has(error.failure));
  if (last.error.failure === 'caller' || isCallers) {
    const isTooLong = last.error.failure === 'context_length';
    const param = last.error.param ?? (isTooLong ? promptFieldOf(request) : 'body');
    const Refusal = isTooLong && 'dialect' in request ? PromptTooLongError : InvalidRequestError;
    return new Refusal(param, last.error.message);
  }
  const tried = listRoutes(lastWords);
  // Of a vendor that cannot do it at all, nothing can be told about the others.
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
    return new TimeoutError(`No answer in time from ${tried}. Try again, or add fallback models.`);
  }
  const isOwnAccount = lastWords.some(
    ({ route, error }) => route.byok !== undefined && error.failure === 'operator',
  );
  if (isOwnAccount) {
    return new ProviderError(
      `No provider could answer; tried ${tried}. Check the key, the quota and the models of your ` +
        'own account, and store the credential anew if it has changed.',
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

/** How some vendors say that they have too much to do at the moment. */
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

/** Where the caller put what turned out too long. */
function promptFieldOf(
  request: Pick<CanonicalRequest, 'dialect'> | Pick<WorkRequest, 'kind'>,
): string {
  return 'dialect' in request ? conversationField(request.dialect) : PROMPT_FIELDS[request.kind];
}

/** What the caller is told when an answer that had begun broke off. */
export function brokenAnswerError(route: PlannedRoute, error: UpstreamError): GatewayError {
  if (error.failure === 'slow_reader') {
    return new SlowReaderError(
      'The answer was read so slowly that it could not come to its end. Read faster, or ask for less.',
    );
  }
  if (error.isRequestOver) {
    return new RequestTimeError(
      'The answer took longer than a request may take here. What was made of it is charged. Ask for less.',
    );
  }
  if (error.isBeyondLimit) {
    return new AnswerLimitError(
      `The answer from ${route.provider} became longer, or nested deeper, than is read here. What was made of it is charged. Ask for less.`,
      { cause: error },
    );
  }
  if (error.failure === 'timeout') {
    return new TimeoutError(`The answer from ${route.provider} stopped coming.`);
  }
  const Failure = isOverload(error) ? ProviderOverloadedError : ProviderError;
  return new Failure(`The answer from ${route.provider} broke off before its end.`, {
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
  unsupported: 'cannot do what was asked',
  unreadable: 'gave no readable answer',
  cut: 'broke off',
  slow_reader: 'waited for its reader',
};

/** What is at fault when the vendor refuses a tenant's own account. */
const OWN_ACCOUNT_PARAM = 'provider-credentials';
const OWN_ACCOUNT_WORDS = 'the credential was refused, has no quota left or no such model';

function listRoutes(failures: readonly RouteFailure[]): string {
  const entries = failures.map(({ route, error }) => {
    const { failure } = error;
    if (!route.byok) return `${route.provider} for ${route.model} (${WORDS[failure]})`;
    const words = failure === 'operator' ? OWN_ACCOUNT_WORDS : WORDS[failure];
    return `${route.provider} with your own credential for ${route.model} (${words})`;
  });
  return [...new Set(entries)].join(', ');
}
