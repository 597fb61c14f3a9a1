import { Injectable } from '@nestjs/common';
import type { CanonicalEvent, WorkEvent } from '../../canonical/canonical-event.js';
import type { CanonicalRequest } from '../../canonical/canonical-request.js';
import { metadataOf, readTags } from '../../canonical/request-tags.js';
import type { RoutableRequest, WorkRequest } from '../../canonical/work-request.js';
import type { Upstream, UpstreamWork, WorkCall } from '../../vendors/upstream.js';
import { GuardrailsService } from '../guardrails/guardrails.service.js';
import type { RequestGuard } from '../guardrails/request-guard.js';
import type { Hold } from '../ledger/hold.js';
import { maxCostOf } from '../ledger/max-cost.js';
import { LedgerService } from '../ledger/ledger.service.js';
import type { BilledEvent, SettledAnswer } from '../ledger/settled-answer.js';
import type { MakeRecord } from '../ledger/ledger-operations.js';
import { readCacheTtl } from '../routing/cache/answer-cache.service.js';
import type { Plan, RequestContext } from '../routing/plan.js';
import { RoutingService } from '../routing/routing.service.js';
import { readHedge } from '../routing/hedge/hedge-option.js';
import { readRecovery } from '../routing/recovery/recovery-option.js';
import { readSessionId } from '../routing/stickiness/conversation-key.js';
import { TracingService } from '../tracing/tracing.service.js';
import { setFlaggedHeader } from './answer-headers.js';
import type { Call } from './call.js';
import { DensePrompts } from './dense-prompts.service.js';

/** A paid answer that has not begun: pulling its events makes the first call. */
export interface Answer<Event extends BilledEvent = CanonicalEvent> {
  readonly plan: Plan<RoutableRequest>;
  /** Ending the events ends the hold; `deliver` ends unread ones. */
  readonly events: SettledAnswer<Event>;
}

/** Work other than a conversation. */
export interface Work<Request extends WorkRequest, Output> {
  /** Kind of call in the log, such as `embeddings`. */
  readonly endpoint: string;
  readonly request: Request;
  /** True when a cached answer may be used, if the caller allows it. */
  readonly isCacheable?: boolean;
  /** Texts that guardrails check before anything is reserved. */
  readonly input: { readonly texts: readonly string[]; readonly param: string };
  /** Output that guardrails check. */
  readonly output?: {
    readonly textsOf: (output: Output) => readonly string[];
    readonly param: string;
  };
  /** Begins the work at a vendor; undefined where unsupported. */
  readonly start: (upstream: Upstream, call: WorkCall<Request>) => UpstreamWork<Output> | undefined;
}

/**
 * Runs the pipeline of every answer: plan → trace → admit → hold → open → watch → keep → settle.
 * Parsing before and rendering after belong to the dialect.
 */
@Injectable()
export class AnswersService {
  constructor(
    private readonly routing: RoutingService,
    private readonly ledger: LedgerService,
    private readonly guardrails: GuardrailsService,
    private readonly tracing: TracingService,
    private readonly prompts: DensePrompts,
  ) {}

  /**
   * Answers a conversation.
   *
   * @param record builds the rows to write with the settlement, in one transaction
   * @throws GatewayError when the call is refused, before anything is reserved
   */
  async generate(
    call: Call,
    endpoint: string,
    parsed: CanonicalRequest,
    record?: MakeRecord,
  ): Promise<Answer> {
    const guard = await this.guard(call);
    const plan = await this.plan(call, endpoint, guard.prepare(parsed), true);
    this.trace(call, plan);
    await guard.admit(plan);
    const hold = await this.ledger.hold(call.caller, plan);
    const open = () => guard.watch(plan, this.routing.open(plan, hold));
    return this.answer(call, plan, hold, open, record);
  }

  /**
   * Plans, admits and pays for an answer that `resume` produces later, on any instance.
   *
   * @throws GatewayError when the call is refused, before anything is reserved
   */
  async accept(
    call: Call,
    endpoint: string,
    parsed: CanonicalRequest,
  ): Promise<{ plan: Plan; hold: Hold }> {
    const guard = await this.guard(call);
    const plan = await this.plan(call, endpoint, guard.prepare(parsed), false);
    await guard.admit(plan);
    return { plan, hold: await this.ledger.hold(call.caller, plan) };
  }

  /**
   * Produces an answer that was accepted earlier and whose hold was transferred.
   *
   * @param accepted the reservation, and whether a guardrail flagged the prompt
   * @param pass wraps the events between the vendor and the ledger
   * @throws GatewayError when no route can answer anymore
   */
  async resume(
    call: Call,
    endpoint: string,
    parsed: CanonicalRequest,
    accepted: { credits: number; isFlagged: boolean },
    pass: (events: AsyncIterable<CanonicalEvent>, plan: Plan) => AsyncIterable<CanonicalEvent>,
    record: MakeRecord,
  ): Promise<Answer> {
    const guard = await this.guard(call);
    const plan = await this.plan(call, endpoint, guard.prepare(parsed), false);
    plan.isFlagged = accepted.isFlagged;
    const hold = await this.ledger.resume(call.caller, plan, accepted.credits);
    const { caller: chain, headers } = call;
    const { tenantId, contentLog } = chain;
    this.tracing.trace(plan, { tenantId, chain, contentLog, headers });
    const events = pass(guard.watch(plan, this.routing.open(plan, hold)), plan);
    return { plan, events: this.ledger.settle(hold, events, record) };
  }

  /**
   * Performs other work.
   *
   * @throws GatewayError when the call is refused, before anything is reserved
   */
  async perform<Request extends WorkRequest, Output>(
    call: Call,
    { endpoint, request, isCacheable = false, input, output, start }: Work<Request, Output>,
  ): Promise<Answer<WorkEvent<Output>>> {
    const plan = await this.plan(call, endpoint, request, isCacheable);
    this.trace(call, plan);
    const guard = await this.guard(call);
    await guard.admitTexts(plan, input.texts, input.param);
    const hold = await this.ledger.hold(call.caller, plan);
    const open = (): AsyncIterable<WorkEvent<Output>> => {
      const opened = this.routing.openWork(plan, hold, start);
      return output ? guard.watchTexts(plan, opened, output.textsOf, output.param) : opened;
    };
    return this.answer(call, plan, hold, open);
  }

  /**
   * Counts a prompt's tokens with the first route's vendor; undefined where that vendor does not
   * count. Free and not logged.
   *
   * @throws GatewayError when the call is refused
   */
  async countTokens(
    call: Call,
    parsed: CanonicalRequest,
  ): Promise<{ tokens: number; provider: string } | undefined> {
    const guard = await this.guard(call);
    const plan = await this.plan(call, 'count_tokens', guard.prepare(parsed), false);
    // The vendor receives the prompt here as well.
    await guard.admit(plan);
    return this.routing.countTokens(plan);
  }

  /** Returns the guard of a call; its flags go to the head of the answer. */
  guard({ caller, head }: Call): RequestGuard | Promise<RequestGuard> {
    return this.guardrails.guard(caller, this.ledger, (ids) => setFlaggedHeader(head, ids));
  }

  private async plan<Request extends RoutableRequest>(
    { caller, requestId, receivedAt, headers, callerGone }: Call,
    endpoint: string,
    request: Request,
    isCacheable: boolean,
  ): Promise<Plan<Request>> {
    const cacheTtlSeconds = isCacheable ? readCacheTtl(headers) : undefined;
    const tags = readTags(headers, metadataOf(request));
    const recovery = request.routing.recovery ?? readRecovery(headers) ?? caller.recovery;
    // Counting tokens is free.
    const costLimit = endpoint === 'count_tokens' ? undefined : maxCostOf(request, headers);
    // Field by field: spreads would be the most expensive part of planning.
    const context: RequestContext = {
      requestId,
      endpoint,
      receivedAt,
      callerGone,
      tags,
      cacheTtlSeconds,
      recovery,
      costLimit,
      sessionId: readSessionId(headers),
      hedgeMs: request.routing.hedgeMs ?? readHedge(headers),
    };
    const planned = costLimit ? await this.prompts.counted(caller.tenantId, request) : request;
    return this.routing.plan(caller, planned, context);
  }

  private trace({ caller, headers, head }: Call, plan: Plan<RoutableRequest>): void {
    const { tenantId, contentLog } = caller;
    this.tracing.trace(plan, { tenantId, chain: caller, contentLog, headers, response: head });
  }

  /**
   * From here on the events own the hold and end the call; failing to create them releases the
   * hold.
   */
  private async answer<Event extends BilledEvent>(
    call: Call,
    plan: Plan<RoutableRequest>,
    hold: Hold,
    open: () => AsyncIterable<Event>,
    record?: MakeRecord,
  ): Promise<Answer<Event>> {
    try {
      const kept = this.routing.keep(plan, open());
      const events = this.ledger.settle(hold, kept, record);
      call.endAnswer = () => events.return();
      return { plan, events };
    } catch (error) {
      await this.ledger.release(hold);
      throw error;
    }
  }
}
