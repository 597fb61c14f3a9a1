import { UpstreamError } from '../../upstream-error.js';

/**
 * A stream is complete when every choice that it began has its finish reason, and one at least has;
 * `[DONE]` alone proves nothing, and its absence neither.
 *
 * @throws UpstreamError `cut`
 */
export function assertFinished(begunChoices: number, finishedChoices: number): void {
  if (finishedChoices > 0 && finishedChoices >= begunChoices) return;
  throw new UpstreamError({ failure: 'cut', message: 'the stream ended without a finish reason' });
}
