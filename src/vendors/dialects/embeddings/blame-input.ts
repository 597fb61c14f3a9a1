import { UpstreamError } from '../../upstream-error.js';

/** Failures that are about what was to be embedded, unless the vendor names another field. */
const ABOUT_INPUT = new Set(['caller', 'context_length']);

/** A failure that names `input` where the vendor refuses the request and names nothing. */
export function blameInput(error: unknown): unknown {
  if (!(error instanceof UpstreamError) || error.param !== undefined) return error;
  if (!ABOUT_INPUT.has(error.failure)) return error;
  const { failure, message, status, retryAfterMs } = error;
  return new UpstreamError(
    {
      failure,
      message,
      param: 'input',
      ...(status !== undefined && { status }),
      ...(retryAfterMs !== undefined && { retryAfterMs }),
    },
    { cause: error.cause },
  );
}
