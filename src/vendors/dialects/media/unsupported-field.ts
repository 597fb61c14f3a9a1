import { UpstreamError } from '../../upstream-error.js';

/** This vendor has no place for a field without which the work would be another. */
export function unsupportedField(param: string, message: string): UpstreamError {
  return new UpstreamError({ failure: 'unsupported', message, param });
}
