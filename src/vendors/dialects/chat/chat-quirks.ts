import { createHash } from 'node:crypto';
import type { PromptField } from '../../../canonical/prompt-fields.js';
import { isJsonObject, type JsonObject } from '../../../platform/http/json-body.js';
import { unsupported, type UpstreamFailure } from '../../upstream-error.js';
import { listOf, objectOf } from '../answer-json.js';
import type { Prefill } from './chat-prefill.js';
import { CHAT_FIELDS } from '../known-fields.js';

/**
 * What a server calls the limit on output tokens. The vendor that made the dialect has renamed it,
 * and its newer models refuse the old name; many compatible servers only know the old one.
 */
export type OutputLimitField = (typeof OUTPUT_LIMIT_FIELDS)[number];
export const OUTPUT_LIMIT_FIELDS = ['max_tokens', 'max_completion_tokens'] as const;

/** How a server of the chat dialect differs from the dialect. What is left out is as usual. */
export interface ChatQuirks {
  /** By default the old one. A caller's other one is renamed. */
  readonly outputLimitField?: OutputLimitField;
  /** Fields of its own that go along, beside those that everybody documents. */
  readonly takes?: readonly string[];
  /** Fields that it has not: they are left out, and named as dropped. */
  readonly refuses?: readonly string[];
  /** By the dialect's names. */
  readonly renames?: Readonly<Record<string, string>>;
  /** Sent where the caller says nothing of them. `models` is a regular expression of its ids. */
  readonly adds?: readonly { readonly models?: string; readonly fields: JsonObject }[];
  /** False: it refuses `stream_options`, and tells the usage unasked. */
  readonly streamOptions?: false;
  /** The words that it takes; the others, and the names of tools, are left out where `auto` is all. */
  readonly toolChoice?: readonly string[];
  /** False: of structured output it only knows `json_object`; the schema is then told in words. */
  readonly jsonSchema?: false;
  /** False: it has no tools; a request with some is another route's. */
  readonly tools?: false;
  /** It only takes ids of tool calls that have so many letters and digits. */
  readonly toolIdLength?: number;
  /** It wants to have its reasoning back with the tools that it called. */
  readonly keepsReasoning?: true;
  /** Models may begin their text with thoughts between `<think>` tags, which are taken out of it. */
  readonly thinkTags?: true;
  readonly effort?: EffortQuirk;
  /** How it goes on with a turn of the assistant's that broke off. */
  readonly prefill?: Prefill;
  /** Where it does so, behind its address, if not where it answers, and what it has to be told besides. */
  readonly prefillAt?: { readonly path: string; readonly fields?: JsonObject };
  /** Whose fault an error is, by its code, where its status says something else. */
  readonly errorCodes?: Readonly<Record<string, UpstreamFailure>>;
  /** Where a refusal for too many requests says when there is room, if not in `retry-after`. */
  readonly resetHeaders?: readonly string[];
  /** Where models are listed, behind its address; by default `/models`. */
  readonly modelsPath?: string;
  /** False: it lists none; what answers there shows that it is up, be it that there is nothing. */
  readonly listsModels?: false;
  /** False: that answers to anybody, and nothing else that is free checks the key. */
  readonly provesKey?: false;
}

interface EffortQuirk {
  /** A regular expression of the models that can be told; by default all. */
  readonly models?: string;
  /** `thinking` and `enable_thinking` only say whether; by default `reasoning_effort`. */
  readonly as?: 'reasoning_effort' | 'thinking' | 'enable_thinking';
  /** A regular expression of the models that `thinking: {type: 'disabled'}` keeps from it, when it is to be `none`. */
  readonly off?: string;
  /** Its words by the dialect's, where they differ. */
  readonly words?: Readonly<Record<string, string>>;
}

/** The dialect's names of what another dialect's caller may say as well. */
const PROMPT_FIELDS: Readonly<Record<string, PromptField>> = {
  temperature: 'temperature',
  top_p: 'topP',
  frequency_penalty: 'frequencyPenalty',
  presence_penalty: 'presencePenalty',
  seed: 'seed',
  stop: 'stop',
  logit_bias: 'logitBias',
  logprobs: 'logprobs',
  top_logprobs: 'topLogprobs',
  tool_choice: 'toolChoice',
  parallel_tool_calls: 'parallelToolCalls',
  response_format: 'responseFormat',
  reasoning_effort: 'reasoning',
  user: 'endUser',
};

/** What only the dialect's maker has, or bills apart; a server that has it too says so. */
const MAKERS_FIELDS: readonly string[] = [
  ...['web_search_options', 'service_tier', 'store', 'metadata', 'modalities', 'audio'],
  ...['prediction', 'verbosity', 'safety_identifier', 'prompt_cache_key'],
  ...['prompt_cache_retention', 'functions', 'function_call'],
];

/** The quirks of one server, ready for use. */
export class QuirkTable {
  /** What of a body may go out to it. */
  readonly fields: ReadonlySet<string>;
  readonly refused: ReadonlySet<PromptField>;
  private readonly efforts: RegExp | undefined;
  private readonly off: RegExp | undefined;
  private readonly refusedFields: readonly string[];

  constructor(readonly quirks: ChatQuirks) {
    const { takes = [], refuses = [], effort } = quirks;
    const refused = [...MAKERS_FIELDS, ...refuses].filter((field) => !takes.includes(field));
    this.refusedFields = refused;
    this.fields = new Set([...CHAT_FIELDS, ...takes].filter((field) => !refused.includes(field)));
    this.refused = new Set(refused.flatMap((field) => PROMPT_FIELDS[field] ?? []));
    this.efforts = effort?.models === undefined ? undefined : new RegExp(effort.models);
    this.off = effort?.off === undefined ? undefined : new RegExp(effort.off);
  }

  takesEffort(upstreamModel: string): boolean {
    return !this.refused.has('reasoning') && this.efforts?.test(upstreamModel) !== false;
  }

  /**
   * Which of these fields the server cannot be told as they are.
   *
   * @param said `tool_choice`, `response_format` and `reasoning_effort`, as far as they are there
   */
  lost(said: JsonObject, upstreamModel: string): PromptField[] {
    const lost: PromptField[] = [];
    if (this.losesChoice(said.tool_choice)) lost.push('toolChoice');
    if (this.losesSchema(said.response_format)) lost.push('responseFormat');
    const { reasoning_effort: effort } = said;
    const isLost = this.quirks.effort?.words?.[String(effort)] === '';
    const isTold =
      this.isOff(effort, upstreamModel) || (!isLost && this.takesEffort(upstreamModel));
    if (effort != null && !isTold) lost.push('reasoning');
    return lost;
  }

  /**
   * Makes a body of the dialect one that the server takes. Only members of `body` itself change.
   *
   * @throws UpstreamError `unsupported` for tools that it has no word for
   */
  apply(body: JsonObject, upstreamModel: string): void {
    const { quirks } = this;
    if (quirks.tools === false && listOf(body.tools).length > 0) {
      throw unsupported('tools', 'This model calls no tools.');
    }
    for (const field of this.refusedFields) delete body[field];
    if (quirks.streamOptions === false) delete body.stream_options;
    if (this.losesChoice(body.tool_choice)) {
      // Where it cannot be told to call none, it is not told of any.
      if (body.tool_choice === 'none') delete body.tools;
      delete body.tool_choice;
    }
    this.nameLimit(body);
    this.spellEffort(body, upstreamModel);
    body.messages = this.messagesOf(body);
    if (this.losesSchema(body.response_format)) body.response_format = { type: 'json_object' };
    for (const { models, fields } of quirks.adds ?? []) {
      if (models !== undefined && !new RegExp(models).test(upstreamModel)) continue;
      for (const [field, value] of Object.entries(fields)) body[field] ??= value;
    }
    for (const [field, name] of Object.entries(quirks.renames ?? {})) {
      if (body[field] === undefined) continue;
      body[name] = body[field];
      delete body[field];
    }
  }

  private isOff(effort: unknown, upstreamModel: string): boolean {
    return effort === 'none' && this.off?.test(upstreamModel) === true;
  }

  private losesChoice(choice: unknown): boolean {
    const { toolChoice } = this.quirks;
    if (toolChoice === undefined || choice == null) return false;
    return !toolChoice.includes(typeof choice === 'string' ? choice : 'named');
  }

  private losesSchema(format: unknown): boolean {
    return this.quirks.jsonSchema === false && objectOf(format).type === 'json_schema';
  }

  private nameLimit(body: JsonObject): void {
    const { outputLimitField: name = 'max_tokens' } = this.quirks;
    const other = name === 'max_tokens' ? 'max_completion_tokens' : 'max_tokens';
    if (body[other] != null) body[name] ??= body[other];
    delete body[other];
  }

  private spellEffort(body: JsonObject, upstreamModel: string): void {
    const { as = 'reasoning_effort', words = {} } = this.quirks.effort ?? {};
    const effort = body.reasoning_effort;
    if (typeof effort !== 'string') return;
    delete body.reasoning_effort;
    if (this.isOff(effort, upstreamModel)) {
      body.thinking ??= { type: 'disabled' };
      return;
    }
    if (!this.takesEffort(upstreamModel)) return;
    const isWanted = effort !== 'none';
    if (as === 'thinking') body.thinking ??= { type: isWanted ? 'enabled' : 'disabled' };
    else if (as === 'enable_thinking') body.enable_thinking ??= isWanted;
    else {
      const word = Object.hasOwn(words, effort) ? words[effort] : effort;
      if (word !== '') body.reasoning_effort = word;
    }
  }

  /** The conversation: the very same array where there is nothing to change. */
  private messagesOf({ messages, response_format: format }: JsonObject): unknown {
    if (!Array.isArray(messages)) return messages;
    let changed: unknown[] = messages;
    if (messages.some(isDevelopers)) {
      changed = changed.map((one) => (isDevelopers(one) ? { ...one, role: 'system' } : one));
    }
    const { toolIdLength: length, keepsReasoning } = this.quirks;
    if (length !== undefined) changed = changed.map((one) => withShortIds(one, length));
    if (keepsReasoning) changed = changed.map(withReasoning);
    return this.losesSchema(format) ? [tellSchema(format), ...changed] : changed;
  }
}

function isDevelopers(message: unknown): message is JsonObject {
  return isJsonObject(message) && message.role === 'developer';
}

/** A call of a tool or its result, under an id that the server takes; the same for the same one. */
function withShortIds(message: unknown, length: number): unknown {
  if (!isJsonObject(message)) return message;
  const { tool_call_id: id, tool_calls: calls } = message;
  if (typeof id === 'string') return { ...message, tool_call_id: shortId(id, length) };
  if (!Array.isArray(calls)) return message;
  const renamed = calls.map((call: unknown) =>
    isJsonObject(call) && typeof call.id === 'string'
      ? { ...call, id: shortId(call.id, length) }
      : call,
  );
  return { ...message, tool_calls: renamed };
}

function shortId(id: string, length: number): string {
  if (id.length === length && /^[a-z\d]+$/i.test(id)) return id;
  return createHash('sha256').update(id).digest('hex').slice(0, length);
}

/** A call whose thoughts are lost, or were another model's, is taken with none, but not without any. */
function withReasoning(message: unknown): unknown {
  if (!isJsonObject(message) || message.tool_calls == null) return message;
  return { ...message, reasoning_content: message.reasoning_content ?? ' ' };
}

/** Servers that only know JSON of any shape want the word in the prompt as well. */
function tellSchema(format: unknown): JsonObject {
  const { schema } = objectOf(objectOf(format).json_schema);
  const content = `Answer with one JSON object and nothing else. It must fit this JSON Schema: ${JSON.stringify(schema)}`;
  return { role: 'system', content };
}

/** A time to wait as servers spell it: `1m2.5s`, `340ms`, or seconds. */
const DURATION =
  /^(?:(\d{1,6})h)?(?:(\d{1,6})m(?!s))?(?:(\d{1,9}(?:\.\d{1,9})?)(?:s|$))?(?:(\d{1,9}(?:\.\d{1,9})?)ms)?$/;

/** Seconds until there is room, by the first of the headers that says so. */
export function readResetSeconds(
  headers: Readonly<Record<string, string | string[] | undefined>>,
  names: readonly string[],
): number | undefined {
  for (const name of names) {
    const parts = DURATION.exec(String(headers[name] ?? '').trim());
    if (!parts || parts[0] === '') continue;
    const [hours, minutes, seconds, ms] = parts.slice(1).map((part) => Number(part ?? 0));
    const sum = hours! * 3_600 + minutes! * 60 + seconds! + ms! / 1_000;
    if (sum > 0) return sum;
  }
  return undefined;
}
