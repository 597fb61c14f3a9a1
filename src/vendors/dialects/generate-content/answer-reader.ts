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

/** What the chat dialect calls a token that is all but impossible. */
const LEAST_LOGPROB = -9999;

interface ChoiceState {
  callCount: number;
  finishReason: string | undefined;
}

/**
 * Reads an answer's objects, one or, in a stream, many of the same shape, into canonical events.
 *
 * A choice's finish is given out at the end only: the vendor may give a reason more than once and
 * with every piece, and only the end shows whether `STOP` stands for tool calls.
 */
export class AnswerReader {
  private readonly choices = new Map<number, ChoiceState>();
  private readonly callIds = new CallIds();
  private hasStarted = false;
  private hasSaid = false;
  private isBlocked = false;
  private usage: Usage | undefined;
  private shownUsage: Usage | undefined;

  /**
   * @param events takes what the object brings, also when it throws
   * @throws UpstreamError for an error in the answer's place, and for what makes no sense
   */
  read(answer: unknown, events: CanonicalEvent[]): void {
    if (isGenerateContentError(answer)) throw classifyInlineGenerateContentError(answer);
    if (!isJsonObject(answer)) throw unreadable('an answer that is no JSON object', 200);
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

  /** Whether every choice has a reason to be over, and something was said: of an empty one another route may do better. */
  get isWhole(): boolean {
    const choices = [...this.choices.values()];
    return this.hasSaid && choices.every(({ finishReason }) => finishReason !== undefined);
  }

  /**
   * What the end of the answer brings.
   *
   * @throws UpstreamError `unreadable` for an answer that says nothing, `cut` when a choice has no
   *   reason to be over
   */
  end(): CanonicalEvent[] {
    // A prompt that the vendor blocks has no answer at all, which is an end of its own.
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
    // An index of 0 is left out of the vendor's JSON, as all zeros are.
    const choice = readChoiceIndex(candidate.index, position);
    const state = this.choiceOf(choice);
    const { parts } = objectOf(candidate.content);
    const first = events.length;
    for (const part of objectsOf(parts)) this.readPart(part, choice, state, events);
    this.hasSaid ||= events.length > first;
    addLogprobs(readLogprobs(candidate.logprobsResult), choice, events, first);
    const { finishReason } = candidate;
    if (typeof finishReason === 'string' && !NO_REASONS.has(finishReason)) {
      state.finishReason = finishReason;
    }
  }

  /** Parts of kinds that were not asked for (pictures, code that the vendor ran) are passed over. */
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

  /** Early pieces count the prompt only; shown too soon, that would pass for an answer without output. */
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

/** "Not yet", in so many words. */
const NO_REASONS: ReadonlySet<string> = new Set(['', 'FINISH_REASON_UNSPECIFIED']);

/** The vendor says `STOP` after tool calls, too. */
function nameReason(reason: string, callCount: number): FinishReason {
  if (reason === 'STOP' && callCount > 0) return 'tool_calls';
  return mapFinishReason('generate-content', reason);
}

/** The tokens of a candidate's text go with its first piece, or alone where there is none. */
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

/** One token in the chat dialect's shape. */
interface TokenLogprob {
  token: string;
  logprob: number;
  bytes: number[];
  top_logprobs?: TokenLogprob[];
}

/** Reads `logprobsResult` into the chat dialect's shape; undefined where there are no tokens. */
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
  // A zero is left out of the vendor's JSON: the token was certain.
  const logprob = logProbability == null ? 0 : Number(logProbability);
  return {
    token: text,
    logprob: Number.isFinite(logprob) ? logprob : LEAST_LOGPROB,
    bytes: [...Buffer.from(text)],
  };
}

/**
 * Reads `usageMetadata`. Thoughts are counted beside the answer's tokens and the results of
 * vendor-run tools beside the prompt's; cached tokens are part of the prompt's.
 *
 * @returns undefined when it is missing, makes no sense, or counts nothing at all
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
  // Some models count their thoughts into the answer; the total tells.
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

/** A count that is left out is 0, as everywhere in the vendor's JSON; undefined for nonsense. */
function readCount(value: unknown): number | undefined {
  return readTokenCount(value ?? 0);
}
