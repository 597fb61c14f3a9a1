import type { Caller } from '../access/caller.js';
import type { CanonicalEvent, WorkEvent } from '../../canonical/canonical-event.js';
import type { CanonicalRequest } from '../../canonical/canonical-request.js';
import { GuardrailViolationError } from '../../platform/errors/gateway-errors.js';
import type {
  Guardrail,
  GuardedRequest,
  GuardedTextRequest,
  RefusalLog,
  ShowFlags,
} from './guardrail.js';
import type { GuardrailTriggerLog } from './guardrail-trigger.log.js';
import type { GuardrailDirection } from './guardrail-rule.js';
import { guardOutput, guardWorkOutput } from './output-guard.js';
import { promptTexts } from './prompt-texts.js';
import type { ScanOutcome, TextScanner } from './text-scanner.service.js';
import { tooManyScans } from './pattern-scan.pool.js';

/** Applies guardrails to one request, step by step. */
export interface RequestGuard {
  /** Call before planning. Requests the answer in a form that can be scanned. */
  prepare<Request extends CanonicalRequest>(request: Request): Request;

  /**
   * Scans the whole prompt. Call before anything is reserved.
   *
   * @throws GuardrailViolationError when a guardrail blocks; logs the refusal at cost 0
   * @throws RateLimitError when too many of the tenant's texts are queued
   */
  admit(request: GuardedTextRequest): void | Promise<void>;

  /**
   * Does the same for a request other than a conversation, such as texts to embed or to speak.
   *
   * @param param the field that holds the texts
   * @throws GuardrailViolationError, RateLimitError
   */
  admitTexts(
    request: GuardedRequest,
    texts: readonly string[],
    param: string,
  ): void | Promise<void>;

  /**
   * Scans the answer on its way to the ledger and the caller.
   *
   * @returns events that throw AnswerWithheldError, when the vendor is done, if a guardrail blocks
   */
  watch(
    request: GuardedTextRequest,
    events: AsyncIterable<CanonicalEvent>,
  ): AsyncIterable<CanonicalEvent>;

  /**
   * Does the same for the output of other work, such as a transcript.
   *
   * @param textsOf returns the texts to scan
   * @param param `param` of a refusal
   */
  watchTexts<Output>(
    request: GuardedRequest,
    events: AsyncIterable<WorkEvent<Output>>,
    textsOf: (output: Output) => readonly string[],
    param: string,
  ): AsyncIterable<WorkEvent<Output>>;
}

/** For tenants without guardrails, at no cost. */
export const NO_GUARD: RequestGuard = {
  prepare: (request) => request,
  admit: () => undefined,
  admitTexts: () => undefined,
  watch: (_request, events) => events,
  watchTexts: (_request, events) => events,
};

export interface GuardSurroundings {
  scanner: TextScanner;
  triggers: GuardrailTriggerLog;
  refusals: RefusalLog;
  showFlags: ShowFlags;
}

/** Applies the tenant's guardrails, as of the request's arrival, to one request. */
export class TenantRequestGuard implements RequestGuard {
  private readonly input: readonly Guardrail[];
  private readonly output: readonly Guardrail[];
  private readonly flaggedBy = new Set<string>();

  constructor(
    private readonly caller: Caller,
    guardrails: readonly Guardrail[],
    private readonly surroundings: GuardSurroundings,
  ) {
    this.input = guardrails.filter(({ appliesTo }) => appliesTo.includes('input'));
    this.output = guardrails.filter(({ appliesTo }) => appliesTo.includes('output'));
  }

  prepare<Request extends CanonicalRequest>(request: Request): Request {
    return this.output.length > 0 ? { ...request, decodesAnswer: true } : request;
  }

  admit(request: GuardedTextRequest): void | Promise<void> {
    if (this.input.length === 0) return;
    return this.admitTexts(request, promptTexts(request.request), paramOf(request));
  }

  admitTexts(
    request: GuardedRequest,
    texts: readonly string[],
    param: string,
  ): void | Promise<void> {
    if (this.input.length === 0) return;
    const characters = texts.reduce((sum, text) => sum + text.length, 0);
    const outcome = this.surroundings.scanner.scan(this.input, {
      texts,
      characters,
      signal: request.callerGone,
    });
    return outcome instanceof Promise
      ? outcome.then((scanned) => this.judgeInput(request, param, scanned))
      : this.judgeInput(request, param, outcome);
  }

  watch(
    request: GuardedTextRequest,
    events: AsyncIterable<CanonicalEvent>,
  ): AsyncIterable<CanonicalEvent> {
    if (this.output.length === 0) return events;
    return guardOutput(events, {
      request,
      guardrails: this.output,
      scanner: this.surroundings.scanner,
      param: paramOf(request),
      note: (guardrail) => this.note(request, guardrail, 'output'),
    });
  }

  watchTexts<Output>(
    request: GuardedRequest,
    events: AsyncIterable<WorkEvent<Output>>,
    textsOf: (output: Output) => readonly string[],
    param: string,
  ): AsyncIterable<WorkEvent<Output>> {
    if (this.output.length === 0) return events;
    return guardWorkOutput(events, {
      guardrails: this.output,
      scanner: this.surroundings.scanner,
      callerGone: request.callerGone,
      param,
      textsOf,
      note: (guardrail) => this.note(request, guardrail, 'output'),
    });
  }

  private judgeInput(
    request: GuardedRequest,
    param: string,
    { matched, unfinished, isTooBusy }: ScanOutcome,
  ): void | Promise<void> {
    if (matched.length === 0 && unfinished.length === 0) return;
    for (const guardrail of matched) this.note(request, guardrail, 'input');
    const blocking = matched.find(({ action }) => action === 'block');
    const unknown = unfinished.find(({ action }) => action === 'block');
    // No vendor is called for a disconnected caller, so nothing gets past.
    if (!blocking && unfinished.length > 0 && request.callerGone.aborted) return;
    if (!blocking && isTooBusy) throw tooManyScans();
    if (!blocking && !unknown) return;
    const message = blocking
      ? `The guardrail ${quote(blocking)} blocked this request. Change the text or the guardrail.`
      : `The guardrail ${quote(unknown!)} timed out, so the request was blocked. Send less text, or simplify its patterns.`;
    return this.refuse(request, new GuardrailViolationError(param, message));
  }

  private async refuse(request: GuardedRequest, refusal: GuardrailViolationError): Promise<never> {
    await this.surroundings.refusals.refuse(this.caller, request, refusal);
    throw refusal;
  }

  private note(request: GuardedRequest, guardrail: Guardrail, direction: GuardrailDirection): void {
    const { id: guardrailId, tenantId, action } = guardrail;
    const { requestId } = request;
    const createdAt = new Date();
    const { triggers, showFlags } = this.surroundings;
    triggers.record({ tenantId, guardrailId, requestId, action, direction, createdAt });
    request.observer?.guardrailTriggered({ guardrailId, action, direction });
    if (action !== 'flag') return;
    request.isFlagged = true;
    this.flaggedBy.add(guardrailId);
    showFlags(this.flaggedBy);
  }
}

/** Quotes the guardrail's name. */
function quote({ name }: Guardrail): string {
  return JSON.stringify(name);
}

function paramOf({ request }: GuardedTextRequest): string {
  return request.dialect === 'responses' ? 'input' : 'messages';
}
