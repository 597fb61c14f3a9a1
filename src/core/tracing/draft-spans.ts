import type { Attributes } from '@opentelemetry/api';
import { latestOf } from '../../canonical/billable-request.js';
import { telemetryProvider } from '../../vendors/vendors.js';
import { traceInput } from './input-messages.js';
import { answerMessages } from './output-messages.js';
import type { RecordedTrace, TracedAttempt } from './recorded-trace.js';
import { requestAttributes } from './request-attributes.js';
import {
  CONTENT_TRUNCATED,
  type SpanDraft,
  ERROR_TYPE,
  GEN_AI,
  HTTP_STATUS,
} from './span-draft.js';
import { newSpanId } from './trace-context.js';
import { MAX_TEXT_CHARACTERS, TextBudget } from './trace-message.js';

export interface DraftOptions {
  /**
   * A tenant sees an outgoing call (CLIENT) under its own name; the operator sees an incoming
   * request (SERVER) with its tenant, but without the caller's own trace fields.
   */
  audience: 'tenant' | 'operator';
  /** True when to include prompts and answers. */
  includeContent: boolean;
}

/** Operation names by endpoint, from the conventions or else our own. */
const OPERATIONS: Readonly<Record<string, string>> = {
  chat: 'chat',
  completions: 'chat',
  messages: 'chat',
  responses: 'chat',
  embeddings: 'embeddings',
  'audio.speech': 'speech',
  'audio.transcriptions': 'transcription',
  'audio.translations': 'transcription',
};

/** Limit of the JSON of one message list. */
const MAX_MESSAGES_CHARACTERS = 4 * MAX_TEXT_CHARACTERS;

/** Outcomes that are not a vendor's failure. */
const HARMLESS = new Set(['answered', 'outpaced', 'uncovered', 'aborted', 'pending']);

/**
 * Builds the spans of a finished request: the root span, and one for each route that was tried or
 * skipped. Retains nothing of the request.
 */
export function draftSpans(trace: RecordedTrace, options: DraftOptions): SpanDraft[] {
  const { context, attempts } = trace;
  const operation = operationOf(trace);
  const { errorType } = trace.ending;
  const isTenant = options.audience === 'tenant';
  const root: SpanDraft = {
    traceId: context.traceId,
    traceState: context.traceState,
    // One collector may receive both the tenant's and the operator's spans of a trace.
    spanId: isTenant ? context.spanId : newSpanId(),
    parentSpanId: context.parentSpanId,
    isParentRemote: context.parentSpanId !== undefined,
    name: (isTenant ? trace.fields.name : undefined) ?? `${operation} ${trace.request.models[0]}`,
    kind: isTenant ? 'client' : 'server',
    startMs: trace.startedAt.getTime(),
    endMs: trace.endedAt.getTime(),
    attributes: rootAttributes(trace, operation, options),
    error: errorType ?? undefined,
  };
  return [root, ...attempts.map((attempt, index) => attemptDraft(trace, root, attempt, index))];
}

function operationOf({ endpoint, request }: RecordedTrace): string {
  return OPERATIONS[endpoint] ?? ('kind' in request ? request.kind : endpoint);
}

function rootAttributes(
  trace: RecordedTrace,
  operation: string,
  { audience, includeContent }: DraftOptions,
): Attributes {
  const { ending, answer, guardrails, endpoint } = trace;
  const attributes: Attributes = {
    [GEN_AI.operationName]: operation,
    ...providerAttributes(ending.provider),
    ...requestAttributes(trace.request),
    ...usageAttributes(trace),
    'gateway.request.id': trace.requestId,
    'gateway.endpoint': endpoint,
    'gateway.outcome': ending.outcome,
    'gateway.cost.credits': ending.cost,
    'gateway.traffic_mode': ending.trafficMode,
    'gateway.attempts': trace.attempts.length,
    ...(audience === 'tenant' ? trace.fields.attributes : { 'gateway.tenant.id': trace.tenantId }),
  };
  if (answer.hasRoute) attributes[GEN_AI.responseModel] = ending.model;
  if (answer.id !== undefined) attributes[GEN_AI.responseId] = answer.id;
  if (answer.finishReasons.length > 0) {
    attributes[GEN_AI.responseFinishReasons] = answer.finishReasons;
  }
  if (trace.streamed && ending.firstContentMs !== undefined) {
    attributes[GEN_AI.responseTimeToFirstChunk] = ending.firstContentMs / 1_000;
  }
  if (ending.errorType !== null) attributes[ERROR_TYPE] = ending.errorType;
  if (trace.cache !== undefined) attributes['gateway.cache'] = trace.cache;
  if (ending.flagged) attributes['gateway.guardrail.flagged'] = true;
  if (guardrails.length > 0) {
    attributes['gateway.guardrail.ids'] = guardrails.map(({ guardrailId }) => guardrailId);
    attributes['gateway.guardrail.actions'] = guardrails.map(
      ({ action, direction }) => `${action}:${direction}`,
    );
  }
  if (includeContent) Object.assign(attributes, contentAttributes(trace));
  return attributes;
}

function providerAttributes(provider: string): Attributes {
  const name = telemetryProvider(provider);
  return { [GEN_AI.system]: name, [GEN_AI.providerName]: name };
}

function usageAttributes({ ending: { usage, usageSource } }: RecordedTrace): Attributes {
  const attributes: Attributes = {
    [GEN_AI.usageInputTokens]: usage.inputTokens,
    [GEN_AI.usageOutputTokens]: usage.outputTokens,
    'gateway.usage.source': usageSource,
  };
  const parts: [string, number][] = [
    [GEN_AI.usageCacheReadInputTokens, usage.cacheReadTokens],
    [GEN_AI.usageCacheCreationInputTokens, usage.cacheWriteTokens],
    [GEN_AI.usageReasoningOutputTokens, usage.reasoningTokens],
    ['gateway.usage.input_characters', usage.inputCharacters],
    ['gateway.usage.audio_ms', usage.audioMs],
    ['gateway.usage.images', usage.imageCount],
    ['gateway.usage.video_seconds', usage.videoSeconds],
  ];
  for (const [name, amount] of parts) if (amount > 0) attributes[name] = amount;
  return attributes;
}

function contentAttributes(trace: RecordedTrace): Attributes {
  const { request, answer } = trace;
  const [input, output] = [new TextBudget(), new TextBudget()];
  const { instructions, messages: prompt } = traceInput(request, input);
  const answers = answerMessages(trace, output);
  const attributes: Attributes = {};
  let isCut = input.isSpent || output.isSpent || answer.isTruncated;
  for (const [name, content] of [
    [GEN_AI.systemInstructions, instructions],
    [GEN_AI.inputMessages, prompt],
    [GEN_AI.outputMessages, answers],
  ] as const) {
    if (content.length === 0) continue;
    const json = JSON.stringify(content);
    // Texts are bounded, so only very many parts without text can exceed the limit.
    if (json.length > MAX_MESSAGES_CHARACTERS) isCut = true;
    else attributes[name] = json;
  }
  if (isCut) attributes[CONTENT_TRUNCATED] = true;
  return attributes;
}

/** Attempts carry no usage or operation, so that collectors do not count a call twice. */
function attemptDraft(
  trace: RecordedTrace,
  { spanId: parentSpanId }: SpanDraft,
  attempt: TracedAttempt,
  index: number,
): SpanDraft {
  const { route, outcome, status } = attempt;
  const startMs = attempt.startedAt.getTime();
  const isLast = attempt === latestOf(trace.attempts);
  const lateError = isLast ? lateErrorOf(trace, outcome) : undefined;
  const isAnswer = isLast && (trace.answer.hasRoute || lateError !== undefined);
  const error = HARMLESS.has(outcome) ? lateError : outcome;
  const attributes: Attributes = {
    ...providerAttributes(route.provider),
    [GEN_AI.requestModel]: route.model,
    'gateway.attempt.number': index + 1,
    'gateway.attempt.outcome': outcome,
  };
  if (isLast && trace.answer.hasRoute)
    attributes['gateway.attempt.first_content_ms'] = attempt.durationMs;
  if (attempt.isHedge) attributes['gateway.attempt.hedged'] = true;
  if (error !== undefined) attributes[ERROR_TYPE] = error;
  if (status !== undefined) attributes[HTTP_STATUS] = status;
  if (route.account !== undefined) attributes['gateway.account'] = route.account;
  return {
    traceId: trace.context.traceId,
    traceState: trace.context.traceState,
    spanId: newSpanId(),
    parentSpanId,
    isParentRemote: false,
    name: `attempt ${route.model} via ${route.provider}`,
    // A skipped call has no remote side.
    kind: outcome === 'uncovered' ? 'internal' : 'client',
    startMs,
    endMs: isAnswer ? trace.endedAt.getTime() : startMs + attempt.durationMs,
    attributes,
    error,
  };
}

/**
 * Returns the error of a request that failed after its last route answered, or for an unknown
 * reason.
 */
function lateErrorOf({ ending, guardrails }: RecordedTrace, outcome: string): string | undefined {
  if (ending.outcome !== 'failed' || (outcome !== 'answered' && outcome !== 'pending'))
    return undefined;
  // A guardrail that withheld the answer is not the vendor's failure.
  const isWithheld = guardrails.some(
    ({ action, direction }) => action === 'block' && direction === 'output',
  );
  return isWithheld ? undefined : (ending.errorType ?? undefined);
}
