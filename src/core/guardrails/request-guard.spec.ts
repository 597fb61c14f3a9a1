import { describe, expect, it, jest } from '@jest/globals';
import type { Caller } from '../access/caller.js';
import { GuardrailViolationError, RateLimitError } from '../../platform/errors/gateway-errors.js';
import { toGuardrail, type GuardedRequest } from './guardrail.js';
import type { GuardrailAction } from './guardrail-rule.js';
import { GuardrailGoneError, ScanQueueFullError, ScanUnfinishedError } from './pattern-scan.js';
import type { PatternScanPool } from './pattern-scan.pool.js';
import { TenantRequestGuard } from './request-guard.js';
import { TextScanner } from './text-scanner.service.js';

/** Too long to be scanned in place. */
const LONG_TEXT = 'innocent '.repeat(10_000);

/** Admits a request whose text the threads fail to scan. */
function admit(
  failure: Error,
  action: GuardrailAction = 'block',
  signal = new AbortController().signal,
) {
  const search = jest.fn<PatternScanPool['search']>().mockRejectedValue(failure);
  const scanner = new TextScanner({ search } as unknown as PatternScanPool);
  Object.assign(scanner, { logger: { warn: () => undefined } });
  const refuse = jest.fn(() => Promise.resolve());
  const guardrail = toGuardrail({
    id: 'g',
    tenantId: 't',
    revision: 1,
    name: 'words',
    action,
    appliesTo: ['input'],
    rules: [{ type: 'regex', pattern: 'x+' }],
    patternSizes: [1_000],
  });
  const guard = new TenantRequestGuard({ tenantId: 't' } as Caller, [guardrail], {
    scanner,
    triggers: { record: () => undefined } as never,
    refusals: { refuse },
    showFlags: () => undefined,
  });
  const request = { requestId: 'r', callerGone: signal } as unknown as GuardedRequest;
  return { admitted: guard.admitTexts(request, [LONG_TEXT], 'input'), search, refuse };
}

describe(TenantRequestGuard.name, () => {
  it.each<GuardrailAction>(['block', 'flag'])(
    'returns 429 when a tenant has too many texts queued: %s',
    async (action) => {
      const { admitted, refuse } = admit(new ScanQueueFullError(), action);
      const refusal = await Promise.resolve(admitted).catch((error: unknown) => error);
      expect(refusal).toBeInstanceOf(RateLimitError);
      expect(refusal).toMatchObject({ status: 429, param: 'guardrails', retryAfterSeconds: 5 });
      expect(refuse).not.toHaveBeenCalled();
    },
  );

  it('blocks a prompt that a blocking guardrail could not check in time', async () => {
    const { admitted, refuse } = admit(new ScanUnfinishedError('slow'));
    await expect(admitted).rejects.toBeInstanceOf(GuardrailViolationError);
    expect(refuse).toHaveBeenCalledTimes(1);
  });

  it('admits a match of a guardrail that was removed meanwhile', async () => {
    const { admitted, search } = admit(new GuardrailGoneError());
    await expect(admitted).resolves.toBeUndefined();
    expect(search.mock.calls[0]![2]).toMatchObject({ guardrailId: 'g' });
  });

  it('logs no refusal for a disconnected caller', async () => {
    const signal = AbortSignal.abort();
    const { admitted, search, refuse } = admit(new ScanUnfinishedError('left'), 'block', signal);
    await expect(admitted).resolves.toBeUndefined();
    expect(refuse).not.toHaveBeenCalled();
    expect(search.mock.calls[0]![2]).toMatchObject({ signal });
  });
});
