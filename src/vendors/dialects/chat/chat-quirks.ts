import { createHash } from 'node:crypto';
import { fieldsSent, nameSent, type PromptField } from '../../../canonical/prompt-field-table.js';
import { isJsonObject, type JsonObject } from '../../../platform/http/json-body.js';
import { unsupported, type UpstreamFailure } from '../../upstream-error.js';
import { listOf, objectOf } from '../answer-json.js';
import type { Prefill } from './chat-prefill.js';
import { CHAT_FIELDS } from '../known-fields.js';

/**
 * The field for the limit on output tokens. OpenAI has renamed it, and its newer models reject the old
 * name; many compatible servers know only the old one.
 */
export type OutputLimitField = (typeof OUTPUT_LIMIT_FIELDS)[number];
export const OUTPUT_LIMIT_FIELDS = ['max_tokens', 'max_completion_tokens'] as const;

/** How a server of the chat dialect differs from the dialect. Defaults apply to absent fields. */
export interface ChatQuirks {
  /** The old one by default. The other one in a caller's body is renamed. */
  readonly outputLimitField?: OutputLimitField;
  /** Supported fields besides the commonly documented ones. */
  readonly takes?: readonly string[];
  /** Unsupported fields, which are dropped and reported as such. */
  readonly refuses?: readonly string[];
  /** Keyed by the dialect's names. */
  readonly renames?: Readonly<Record<string, string>>;
  /** Defaults for absent fields. `models` is a regular expression of the server's model ids. */
  readonly adds?: readonly { readonly models?: string; readonly fields: JsonObject }[];
  /** False: rejects `stream_options` and always reports usage. */
  readonly streamOptions?: false;
  /** Supported values; others are dropped, and so are tool names if only `auto` is supported. */
  readonly toolChoice?: readonly string[];
  /** False: supports only `json_object`; the schema then goes into the prompt. */
  readonly jsonSchema?: false;
  /** False: has no tools; requests with tools need another route. */
  readonly tools?: false;
  /** Requires tool call ids of exactly so many letters and digits. */
  readonly toolIdLength?: number;
  /** Requires its reasoning back together with its tool calls. */
  readonly keepsReasoning?: true;
  /** Models may start their text with reasoning between `<think>` tags, which is extracted. */
  readonly thinkTags?: true;
  readonly effort?: EffortQuirk;
  /** How it continues an interrupted assistant message. */
  readonly prefill?: Prefill;
  /** Path of the endpoint for that, if different, with additional fields. */
  readonly prefillAt?: { readonly path: string; readonly fields?: JsonObject };
  /** Failures by error code, where the status is misleading. */
  readonly errorCodes?: Readonly<Record<string, UpstreamFailure>>;
  /** Headers of a rate limit error with the reset time, if not `retry-after`. */
  readonly resetHeaders?: readonly string[];
  /** Path of the model list; `/models` by default. */
  readonly modelsPath?: string;
  /** False: has no model list; any answer to the probe, even a 404, shows that it is up. */
  readonly listsModels?: false;
  /** False: the probe needs no key, and no other free call checks it. */
  readonly provesKey?: false;
}

interface EffortQuirk {
  /** A regular expression of the models that support it; all by default. */
  readonly models?: string;
  /** `thinking` and `enable_thinking` only switch it; `reasoning_effort` by default. */
  readonly as?: 'reasoning_effort' | 'thinking' | 'enable_thinking';
  /** A regular expression of the models that support `thinking: {type: 'disabled'}` for an effort of `none`. */
  readonly off?: string;
  /** The server's efforts by the dialect's, where they differ. */
  readonly words?: Readonly<Record<string, string>>;
}

/** Fields that only OpenAI has, or bills separately; servers that have them too declare it. */
const MAKERS_FIELDS: readonly string[] = [
  ...['web_search_options', 'service_tier', 'store', 'metadata', 'modalities', 'audio'],
  ...['prediction', 'verbosity', 'safety_identifier', 'prompt_cache_key'],
  ...['prompt_cache_retention', 'functions', 'function_call'],
];

/** The prepared quirks of one server. */
export class QuirkTable {
  /** The body fields that it may get. */
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
    this.refused = new Set(
      fieldsSent('chat').filter((field) => refused.includes(nameSent('chat', field)!)),
    );
    this.efforts = effort?.models === undefined ? undefined : new RegExp(effort.models);
    this.off = effort?.off === undefined ? undefined : new RegExp(effort.off);
  }

  takesEffort(upstreamModel: string): boolean {
    return !this.refused.has('reasoning') && this.efforts?.test(upstreamModel) !== false;
  }

  /**
   * Returns the fields whose values the server does not support.
   *
   * @param values `tool_choice`, `response_format` and `reasoning_effort`, if present
   */
  lost(values: JsonObject, upstreamModel: string): PromptField[] {
    const lost: PromptField[] = [];
    if (this.losesChoice(values.tool_choice)) lost.push('toolChoice');
    if (this.losesSchema(values.response_format)) lost.push('responseFormat');
    const { reasoning_effort: effort } = values;
    const isLost = this.quirks.effort?.words?.[String(effort)] === '';
    const isDescribed =
      this.isOff(effort, upstreamModel) || (!isLost && this.takesEffort(upstreamModel));
    if (effort != null && !isDescribed) lost.push('reasoning');
    return lost;
  }

  /**
   * Adapts a body of the dialect to the server. Changes only top-level members of `body`.
   *
   * @throws UpstreamError `unsupported` for tools when the server has none
   */
  apply(body: JsonObject, upstreamModel: string): void {
    const { quirks } = this;
    if (quirks.tools === false && listOf(body.tools).length > 0) {
      throw unsupported('tools', 'This model does not support tools.');
    }
    for (const field of this.refusedFields) delete body[field];
    if (quirks.streamOptions === false) delete body.stream_options;
    if (this.losesChoice(body.tool_choice)) {
      // A server without `none` gets no tools.
      if (body.tool_choice === 'none') delete body.tools;
      delete body.tool_choice;
    }
    this.nameLimit(body);
    this.encodeEffort(body, upstreamModel);
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

  private encodeEffort(body: JsonObject, upstreamModel: string): void {
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

  /** Returns the adapted messages: the same array when nothing changes. */
  private messagesOf({ messages, response_format: format }: JsonObject): unknown {
    if (!Array.isArray(messages)) return messages;
    let changed: unknown[] = messages;
    if (messages.some(isDevelopers)) {
      changed = changed.map((one) => (isDevelopers(one) ? { ...one, role: 'system' } : one));
    }
    const { toolIdLength: length, keepsReasoning } = this.quirks;
    if (length !== undefined) changed = changed.map((one) => withShortIds(one, length));
    if (keepsReasoning) changed = changed.map(withReasoning);
    return this.losesSchema(format) ? [describeSchema(format), ...changed] : changed;
  }
}

function isDevelopers(message: unknown): message is JsonObject {
  return isJsonObject(message) && message.role === 'developer';
}

/** Replaces the id of a tool call or result by a stable one that the server accepts. */
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

/** Adds empty reasoning to a call whose own is lost or from another model; servers reject a missing one. */
function withReasoning(message: unknown): unknown {
  if (!isJsonObject(message) || message.tool_calls == null) return message;
  return { ...message, reasoning_content: message.reasoning_content ?? ' ' };
}

/** Describes the schema; servers without schema support require the word JSON in the prompt. */
function describeSchema(format: unknown): JsonObject {
  const { schema } = objectOf(objectOf(format).json_schema);
  const content = `Answer with one JSON object and nothing else. It must fit this JSON Schema: ${JSON.stringify(schema)}`;
  return { role: 'system', content };
}

/** A wait time as servers format it: `1m2.5s`, `340ms`, or seconds. */
const DURATION =
  /^(?:(\d{1,6})h)?(?:(\d{1,6})m(?!s))?(?:(\d{1,9}(?:\.\d{1,9})?)(?:s|$))?(?:(\d{1,9}(?:\.\d{1,9})?)ms)?$/;

/** Returns the seconds until the rate limit resets, by the first header that has it. */
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
