import { gatewayErrorOf } from '../../platform/database/database-outage.js';
import {
  GatewayError,
  InvalidRequestError,
  ProviderError,
  TimeoutError,
} from '../../platform/errors/gateway-errors.js';
import { isJsonObject } from '../../platform/http/json-body.js';
import { MediaFailedError } from '../../vendors/media-work.js';
import { UpstreamError } from '../../vendors/upstream-error.js';
import type { JobFailure } from './job.js';

/** What a vendor's filters say, whatever the vendor calls it otherwise. */
const CONTENT_POLICY = 'content_policy_violation';

/** It may have been taken, and may even be made; asking again could cost twice. */
export const UNKNOWN_OUTCOME = new ProviderError(
  'It is not known whether the provider took this job, so it was not sent again. Nothing was charged; submit it anew.',
);

/** The account that the work was to be, or was being, made with cannot be asked any more. */
export const CREDENTIAL_GONE = new ProviderError(
  'The provider credential that this job was to be made with has been deleted. Nothing was charged; submit it anew.',
  { param: 'provider-credentials' },
);

export const DEADLINE_PASSED = new TimeoutError(
  'The job was not done before its deadline. Nothing was charged.',
);

/** Why a job came to nothing, in words fit for its tenant. */
export function toJobFailure(error: unknown): JobFailure {
  if (error instanceof MediaFailedError) {
    const known = error.code === CONTENT_POLICY ? refused(error) : new ProviderError(error.message);
    return { ...fieldsOf(known), code: error.code };
  }
  return fieldsOf(gatewayErrorOf(error));
}

/** The reverse, for a caller who waits. */
export function toGatewayError(failure: JobFailure): GatewayError {
  const { code: _, ...fields } = failure;
  return new GatewayError(fields);
}

/** What came between, in words for the log. */
export function reasonOf(error: unknown): string {
  if (error instanceof UpstreamError) return error.summary;
  return isJsonObject(error) ? String(error.message) : String(error);
}

function refused({ message }: MediaFailedError): GatewayError {
  return new InvalidRequestError('prompt', message);
}

function fieldsOf({ message, type, status, param, retryAfterSeconds }: GatewayError): JobFailure {
  return {
    code: type,
    message,
    type,
    status,
    param,
    ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
  };
}
