import type { CanonicalEvent, FinishReason } from '../../../canonical/canonical-event.js';
import { NO_USAGE, type Usage } from '../../../canonical/usage.js';
import { isJsonObject, type JsonObject } from '../../../platform/http/json-body.js';
import { UpstreamError, unreadable } from '../../upstream-error.js';
import { mapFinishReason } from '../map-finish-reason.js';
import {
  classifyInlineGenerateContentError,
  isGenerateContentError,
} from './classify-generate-content-error.js';
import { nameThoughtSignature, nameTextSignature } from './thought-signatures.js';
import { listOf, objectOf, objectsOf, readChoiceIndex, readTokenCount } from '../answer-json.js';
import { CallIds } from '../tool-calls.js';
import { startEvent } from '../vendor-answer.js';

/** The chat dialect's value for a token that is practically impossible. */
const LEAST_LOGPROB = -9999;

interface ChoiceState {
  callCount: number;
  finishReason: string | undefined;
}

/**
 * Reads the objects of an answer (one, or many of the same shape in a stream) into canonical events.
 *
 * Finish events are emitted at the end only: the vendor may repeat a reason with every piece, and only
 * the end shows whether `STOP` means tool calls.
 */
export class AnswerReader {
  private readonly choices = new Map<number, ChoiceState>();
  private readonly callIds = new CallIds();
  private hasStarted = false;
  private hasOutput = false;
  private isBlocked = false;
  private usage: Usage | undefined;
  private shownUsage: Usage | undefined;

  /**
   * @param events receives the object's events, even when it throws
   * @throws UpstreamError for an error in place of the answer, and for invalid content
   */
  read(answer: unknown, events: CanonicalEvent[]): void {
    if (isGenerateContentError(answer)) throw classifyInlineGenerateContentError(answer);
    if (!isJsonObject(answer)) throw unreadable('an answer that is not a JSON object', 200);
    if (!this.hasStarted) {
      this.hasStarted = true;
      events.push(startEvent(answer.responseId));
    }
    for (const [position, candidate] of listOf(answer.candidates).entries()) {
      if (isJsonObject(candidate)) this.readCandidate(candidate, position, events);
    }
    const { promptFeedback } = answer;
    this.isBlocked ||= isJsonObject(promptFeedback) && promptFeedback.blockReason != null;
    this.readUsage(answer.usageMetadata, events);
  }

  /** True when every choice has a finish reason and there is output. Another route may do better than an empty answer. */
  get isWhole(): boolean {
    const choices = [...this.choices.values()];
    return this.hasOutput && choices.every(({ finishReason }) => finishReason !== undefined);
  }

  /**
   * Returns the events of the answer's end.
   *
   * @throws UpstreamError `unreadable` for an empty answer, `cut` when a choice has no finish reason
   */
  end(): CanonicalEvent[] {
    // A blocked prompt has no candidates, but is a valid end.
    if (this.isBlocked && this.choices.size === 0) this.choiceOf(0);
    if (this.choices.size === 0) throw unreadable('an empty answer', 200);
    const events: CanonicalEvent[] = [];
    for (const [choice, { finishReason, callCount }] of this.choices) {
      const reason = finishReason ?? (this.isBlocked ? 'PROHIBITED_CONTENT' : undefined);
      if (reason === undefined) {
        throw new UpstreamError({
          failure: 'cut',
          message: 'the answer ended without a finish reason',
        });
      }
      events.push({ type: 'finish', choice, reason: nameReason(reason, callCount) });
    }
    if (this.usage && this.usage !== this.shownUsage) {
      events.push({ type: 'usage', usage: this.usage });
    }
    return events;
  }

  private readCandidate(candidate: JsonObject, position: number, events: CanonicalEvent[]): void {
    // The vendor's JSON omits zeros, so an index of 0 is missing.
    const choice = readChoiceIndex(candidate.index, position);
    const state = this.choiceOf(choice);
    const { parts } = objectOf(candidate.content);
    const first = events.length;
    for (const part of objectsOf(parts)) this.readPart(part, choice, state, events);
    this.hasOutput ||= events.length > first;
    addLogprobs(readLogprobs(candidate.logprobsResult), choice, events, first);
    const { finishReason } = candidate;
    if (typeof finishReason === 'string' && !PENDING_REASONS.has(finishReason)) {
      state.finishReason = finishReason;
    }
  }

  /** Skips parts of kinds that were not requested, such as images or vendor-run code. */
  private readPart(
    part: JsonObject,
    choice: number,
    state: ChoiceState,
    events: CanonicalEvent[],
  ): void {
    const { text, thoughtSignature } = part;
    const signature =
      typeof thoughtSignature === 'string' && thoughtSignature !== ''
        ? thoughtSignature
        : undefined;
    if (isJsonObject(part.functionCall)) {
      this.readCall(part.functionCall, signature, choice, state, events);
    } else if (part.thought === true) {
      const said = typeof text === 'string' ? text : '';
      if (signature !== undefined) {
        events.push({
          type: 'reasoning',
          choice,
          text: said,
          signature: nameThoughtSignature(signature),
        });
      } else if (said !== '') {
        events.push({ type: 'reasoning', choice, text: said });
      }
    } else {
      if (typeof text === 'string' && text !== '') events.push({ type: 'text', choice, text });
      if (signature !== undefined) {
        events.push({
          type: 'reasoning',
          choice,
          text: '',
          signature: nameTextSignature(signature),
        });
      }
    }
  }

  private readCall(
    call: JsonObject,
    signature: string | undefined,
    choice: number,
    state: ChoiceState,
    events: CanonicalEvent[],
  ): void {
    const { name, args } = call;
    if (typeof name !== 'string' || name === '')
      throw unreadable('a function call without a name', 200);
    const index = state.callCount++;
    events.push(
      {
        type: 'tool_call',
        choice,
        index,
        id: this.callIds.next(call.id),
        name,
        ...(signature !== undefined && { signature: nameThoughtSignature(signature) }),
      },
      { type: 'tool_arguments', choice, index, text: JSON.stringify(args ?? {}) },
    );
  }

  /** Reads usage. Early pieces count only the prompt, and would look like an answer without output. */
  private readUsage(metadata: unknown, events: CanonicalEvent[]): void {
    const usage = readUsageMetadata(metadata);
    if (!usage) return;
    this.usage = usage;
    if (usage.outputTokens === 0 || usage.outputTokens === this.shownUsage?.outputTokens) return;
    this.shownUsage = usage;
    events.push({ type: 'usage', usage });
  }

  private choiceOf(choice: number): ChoiceState {
    const known = this.choices.get(choice);
    if (known) return known;
    const state: ChoiceState = { callCount: 0, finishReason: undefined };
    this.choices.set(choice, state);
    return state;
  }
}

/** Explicit values for "not yet". */
const PENDING_REASONS: ReadonlySet<string> = new Set(['', 'FINISH_REASON_UNSPECIFIED']);

/** Maps a finish reason. The vendor also sends `STOP` after tool calls. */
function nameReason(reason: string, callCount: number): FinishReason {
  if (reason === 'STOP' && callCount > 0) return 'tool_calls';
  return mapFinishReason('generate-content', reason);
}

/** Attaches a candidate's tokens to its first text, or emits them separately without text. */
function addLogprobs(
  logprobs: object | undefined,
  choice: number,
  events: CanonicalEvent[],
  first: number,
): void {
  if (!logprobs) return;
  const text = events.slice(first).find((event) => event.type === 'text');
  if (text) text.logprobs = logprobs;
  else events.push({ type: 'text', choice, text: '', logprobs });
}

/** One token in the chat dialect's format. */
interface TokenLogprob {
  token: string;
  logprob: number;
  bytes: number[];
  top_logprobs?: TokenLogprob[];
}

/** Converts `logprobsResult` to the chat dialect's format; undefined without tokens. */
export function readLogprobs(value: unknown): { content: TokenLogprob[] } | undefined {
  const { chosenCandidates, topCandidates } = objectOf(value);
  const tops = listOf(topCandidates);
  const content = listOf(chosenCandidates).flatMap((chosen, index) => {
    if (!isJsonObject(chosen)) return [];
    const { candidates } = objectOf(tops[index]);
    return [{ ...readToken(chosen), top_logprobs: objectsOf(candidates).map(readToken) }];
  });
  return content.length > 0 ? { content } : undefined;
}

function readToken({ token, logProbability }: JsonObject): TokenLogprob {
  const text = typeof token === 'string' ? token : '';
  // The vendor's JSON omits zeros: the token was certain.
  const logprob = logProbability == null ? 0 : Number(logProbability);
  return {
    token: text,
    logprob: Number.isFinite(logprob) ? logprob : LEAST_LOGPROB,
    bytes: [...Buffer.from(text)],
  };
}

/**
 * Reads `usageMetadata`. Reasoning is counted in addition to the answer's tokens, and results of vendor-run
 * tools in addition to the prompt's; cached tokens are part of the prompt's.
 *
 * @returns undefined when it is missing, invalid, or all zeros
 */
export function readUsageMetadata(value: unknown): Usage | undefined {
  if (!isJsonObject(value)) return undefined;
  const prompt = readCount(value.promptTokenCount);
  const candidates = readCount(value.candidatesTokenCount);
  const thoughts = readCount(value.thoughtsTokenCount);
  const toolUse = readCount(value.toolUsePromptTokenCount);
  const cached = readCount(value.cachedContentTokenCount);
  if (
    prompt === undefined ||
    candidates === undefined ||
    thoughts === undefined ||
    toolUse === undefined ||
    cached === undefined
  ) {
    return undefined;
  }
  const inputTokens = prompt + toolUse;
  // Some models include their reasoning in the answer; the total shows it.
  const isCountedIn = thoughts <= candidates && value.totalTokenCount === inputTokens + candidates;
  const outputTokens = isCountedIn ? candidates : candidates + thoughts;
  if (inputTokens + outputTokens === 0) return undefined;
  return {
    ...NO_USAGE,
    inputTokens,
    outputTokens,
    cacheReadTokens: Math.min(cached, inputTokens),
    reasoningTokens: Math.min(thoughts, outputTokens),
  };
}

/** Reads a count. Missing ones are 0, as everywhere in the vendor's JSON; undefined when invalid. */
function readCount(value: unknown): number | undefined {
  return readTokenCount(value ?? 0);
}
