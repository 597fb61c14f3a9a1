import { waitUnless, type CancelSignal } from '../../canonical/cancel-signal.js';
import { classifyChatError } from '../dialects/chat/classify-chat-error.js';
import { CallAbortedError } from '../transport/upstream-response.js';
import { UpstreamError } from '../upstream-error.js';
import type { CallLimits } from '../upstream.js';

/**
 * Fails like a vendor would: `reset`, `hang`, or an HTTP status.
 *
 * @throws UpstreamError, or CallAbortedError when the signal fires
 */
export async function simulateFault(
  fault: string,
  { limits, signal }: { limits: CallLimits; signal: CancelSignal },
): Promise<never> {
  if (fault === 'reset') {
    throw new UpstreamError({ failure: 'reset', message: 'sandbox: connection reset' });
  }
  if (fault === 'hang') {
    const waitMs = Math.min(limits.firstByteMs, limits.requestMs);
    if (!(await waitUnless(signal, waitMs))) throw new CallAbortedError();
    throw new UpstreamError({ failure: 'timeout', message: 'sandbox: no answer' });
  }
  throw classifyChatError(Number(fault), fault === '429' ? { 'retry-after': '1' } : {}, {
    error: { message: `Sandbox: simulated status ${fault}.`, type: 'sandbox_fault' },
  });
}
