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

/** Error code of a vendor's content filter, whatever the vendor calls it. */
const CONTENT_POLICY = 'content_policy_violation';

/** The vendor may have accepted the job, so a retry could cost twice. */
export const UNKNOWN_OUTCOME = new ProviderError(
  'It is unknown whether the provider accepted this job, so it was not sent again. Nothing was charged. Submit a new job.',
);

/** The credential was deleted before the job finished. */
export const CREDENTIAL_GONE = new ProviderError(
  'The provider credential of this job has been deleted. Nothing was charged. Submit a new job.',
  { param: 'provider-credentials' },
);

export const DEADLINE_PASSED = new TimeoutError(
  'The job did not finish before its deadline. Nothing was charged.',
);

/** Returns the failure that the tenant sees. */
export function toJobFailure(error: unknown): JobFailure {
  if (error instanceof MediaFailedError) {
    const known = error.code === CONTENT_POLICY ? refused(error) : new ProviderError(error.message);
    return { ...fieldsOf(known), code: error.code };
  }
  return fieldsOf(gatewayErrorOf(error));
}

/** Converts a stored failure back to an error for synchronous callers. */
export function toGatewayError(failure: JobFailure): GatewayError {
  const { code: _, ...fields } = failure;
  return new GatewayError(fields);
}

/** Returns the reason for a log line. */
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
