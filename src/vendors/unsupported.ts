import { UpstreamError } from './upstream-error.js';

/** What this model cannot do, though the next one may. */
export function unsupported(param: string, message: string): UpstreamError {
  return new UpstreamError({ failure: 'unsupported', param, message });
}
