import { Injectable } from '@nestjs/common';
import type { Caller } from '../access/caller.js';
import type { Guardrail, RefusalLog, ShowFlags } from './guardrail.js';
import { GuardrailDirectory } from './guardrail-directory.service.js';
import { GuardrailTriggerLog } from './guardrail-trigger.log.js';
import { NO_GUARD, TenantRequestGuard, type RequestGuard } from './request-guard.js';
import { TextScanner } from './text-scanner.service.js';

/** Provides request guards to every endpoint that calls a model. */
@Injectable()
export class GuardrailsService {
  constructor(
    private readonly directory: GuardrailDirectory,
    private readonly scanner: TextScanner,
    private readonly triggers: GuardrailTriggerLog,
  ) {}

  /**
   * Returns the guard of one request.
   *
   * @param refusals logs refusals
   * @param showFlags shows the flagging guardrails to the caller
   */
  guard(
    caller: Caller,
    refusals: RefusalLog,
    showFlags: ShowFlags,
  ): RequestGuard | Promise<RequestGuard> {
    const make = (guardrails: readonly Guardrail[]): RequestGuard => {
      if (guardrails.length === 0) return NO_GUARD;
      const { scanner, triggers } = this;
      return new TenantRequestGuard(caller, guardrails, { scanner, triggers, refusals, showFlags });
    };
    const guardrails = this.directory.of(caller.tenantId);
    return guardrails instanceof Promise ? guardrails.then(make) : make(guardrails);
  }
}
