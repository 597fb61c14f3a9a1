import type { JsonObject } from '../platform/http/json-body.js';

/** The wire formats with names for prompt fields: those of callers, and two that only vendors speak. */
type WireFormat = 'chat' | 'messages' | 'responses' | 'generateContent' | 'converse';

/** The types of fields whose values every dialect takes unchanged. */
interface Values {
  number: number;
  flag: boolean;
  /** A single text counts as a list of one. */
  texts: readonly string[];
  weights: Readonly<Record<string, number>>;
}

/**
 * A dialect's name of a field, dotted for nested members. A plain name is read from callers and sent to
 * vendors.
 */
type Cell =
  | string
  | {
      /** Names read from callers. The first one is used in headers and errors. */
      readonly read?: readonly string[];
      /** The name sent to vendors. Without one, the field is dropped and named in a header. */
      readonly sent?: string;
    };

/** The dialect has no such field: vendors do not get it, and the dropped-fields header names it. */
const DROPPED = {};

/**
 * The controls of a canonical prompt, in the order in which they are sent and reported. Rows with a `value`
 * are sampling parameters, which parsers and encoders handle by this table alone; encoders add only what
 * differs between models. The others have a structure that parsers and encoders translate.
 */
const TABLE = {
  temperature: {
    value: 'number',
    chat: 'temperature',
    messages: 'temperature',
    responses: 'temperature',
    generateContent: 'temperature',
    converse: 'temperature',
  },
  topP: {
    value: 'number',
    chat: 'top_p',
    messages: 'top_p',
    responses: 'top_p',
    generateContent: 'topP',
    converse: 'topP',
  },
  topK: {
    value: 'number',
    chat: { read: ['top_k'] },
    messages: 'top_k',
    responses: DROPPED,
    generateContent: 'topK',
    converse: 'top_k',
  },
  frequencyPenalty: {
    value: 'number',
    chat: 'frequency_penalty',
    messages: DROPPED,
    responses: { read: ['frequency_penalty'] },
    generateContent: 'frequencyPenalty',
    converse: DROPPED,
  },
  presencePenalty: {
    value: 'number',
    chat: 'presence_penalty',
    messages: DROPPED,
    responses: { read: ['presence_penalty'] },
    generateContent: 'presencePenalty',
    converse: DROPPED,
  },
  seed: {
    value: 'number',
    chat: 'seed',
    messages: DROPPED,
    responses: DROPPED,
    generateContent: 'seed',
    converse: DROPPED,
  },
  stop: {
    value: 'texts',
    chat: 'stop',
    messages: 'stop_sequences',
    responses: DROPPED,
    generateContent: 'stopSequences',
    converse: 'stopSequences',
  },
  logitBias: {
    value: 'weights',
    chat: 'logit_bias',
    messages: DROPPED,
    responses: DROPPED,
    generateContent: DROPPED,
    converse: DROPPED,
  },
  logprobs: {
    value: 'flag',
    chat: 'logprobs',
    messages: DROPPED,
    responses: DROPPED,
    generateContent: 'responseLogprobs',
    converse: DROPPED,
  },
  topLogprobs: {
    value: 'number',
    chat: 'top_logprobs',
    messages: DROPPED,
    responses: 'top_logprobs',
    generateContent: 'logprobs',
    converse: DROPPED,
  },
  toolChoice: {
    chat: 'tool_choice',
    messages: 'tool_choice',
    responses: 'tool_choice',
    generateContent: 'toolConfig',
    converse: 'toolConfig.toolChoice',
  },
  parallelToolCalls: {
    chat: 'parallel_tool_calls',
    messages: 'tool_choice.disable_parallel_tool_use',
    responses: 'parallel_tool_calls',
    generateContent: DROPPED,
    converse: 'additionalModelRequestFields.tool_choice',
  },
  responseFormat: {
    chat: 'response_format',
    messages: 'output_config.format',
    responses: 'text.format',
    generateContent: 'generationConfig.responseMimeType',
    converse: 'outputConfig.textFormat',
  },
  reasoning: {
    chat: { read: ['reasoning', 'reasoning_effort'], sent: 'reasoning_effort' },
    messages: { read: ['thinking', 'output_config.effort'], sent: 'thinking' },
    responses: 'reasoning',
    generateContent: 'generationConfig.thinkingConfig',
    converse: 'additionalModelRequestFields.thinking',
  },
  endUser: {
    chat: 'user',
    messages: { read: ['metadata.user_id', 'metadata'], sent: 'metadata.user_id' },
    responses: { read: ['user', 'safety_identifier'], sent: 'user' },
    generateContent: DROPPED,
    converse: 'requestMetadata',
  },
} as const satisfies Record<string, { value?: keyof Values } & Record<WireFormat, Cell>>;

type Table = typeof TABLE;
export type PromptField = keyof Table;
export type SamplingField = {
  [Field in PromptField]: Table[Field] extends { value: keyof Values } ? Field : never;
}[PromptField];
export type SamplingParameters = {
  [Field in SamplingField]?: Values[Table[Field]['value']];
};

export const PROMPT_FIELDS = Object.keys(TABLE) as PromptField[];
const SAMPLING_FIELDS = PROMPT_FIELDS.filter(isSampling);

export function isSampling(field: PromptField): field is SamplingField {
  return 'value' in TABLE[field];
}

/** Returns the dialect's names for a field as read from callers; empty when it has none. */
export function namesRead(format: WireFormat, field: PromptField): readonly string[] {
  const cell: Cell = TABLE[field][format];
  return typeof cell === 'string' ? [cell] : (cell.read ?? []);
}

/** Returns the name under which vendors of the dialect get a field; undefined when they do not. */
export function nameSent(format: WireFormat, field: PromptField): string | undefined {
  const cell: Cell = TABLE[field][format];
  return typeof cell === 'string' ? cell : cell.sent;
}

/** Returns the body members in which callers of the dialect set prompt fields. */
export function membersRead(format: WireFormat): string[] {
  return topLevel(PROMPT_FIELDS.flatMap((field) => namesRead(format, field)));
}

/** Returns the body members in which vendors of the dialect get prompt fields. */
export function membersSent(
  format: WireFormat,
  fields: readonly PromptField[] = PROMPT_FIELDS,
): string[] {
  return topLevel(fields.flatMap((field) => nameSent(format, field) ?? []));
}

function topLevel(names: readonly string[]): string[] {
  return [...new Set(names.map((name) => name.split('.')[0]!))];
}

/** Returns the fields that vendors of the dialect get, though not on every model. */
export function fieldsSent(format: WireFormat): PromptField[] {
  return PROMPT_FIELDS.filter((field) => nameSent(format, field) !== undefined);
}

/** Returns the sampling parameters that vendors of the dialect get, though not on every model. */
export function samplingSent(format: WireFormat): SamplingField[] {
  return fieldsSent(format).filter(isSampling);
}

const READERS: { [Type in keyof Values]: (value: unknown) => Values[Type] | undefined } = {
  number: (value) => (typeof value === 'number' ? value : undefined),
  flag: (value) => (typeof value === 'boolean' ? value : undefined),
  texts: (value) => {
    if (typeof value === 'string') return [value];
    return Array.isArray(value) ? value.filter((text) => typeof text === 'string') : undefined;
  },
  weights: (value) =>
    typeof value === 'object' && value !== null
      ? (value as Readonly<Record<string, number>>)
      : undefined,
};

/** Reads sampling parameters from a validated body. Resolved once for each dialect. */
export function samplingReader(format: WireFormat): (body: JsonObject) => SamplingParameters {
  const entries = SAMPLING_FIELDS.flatMap((field) =>
    namesRead(format, field).map((name) => ({ field, name, read: READERS[TABLE[field].value] })),
  );
  return (body) => {
    const sampling: Record<string, unknown> = {};
    for (const { field, name, read } of entries) {
      const value = read(body[name]);
      if (value !== undefined) sampling[field] = value;
    }
    return sampling;
  };
}

/**
 * Encodes sampling parameters under the dialect's names, without those that it lacks or that are undefined.
 * Resolved once for each dialect.
 *
 * @param fields which ones to send, in this order
 */
export function samplingEncoder(
  format: WireFormat,
  fields: readonly SamplingField[] = samplingSent(format),
): (sampling: Partial<Record<SamplingField, unknown>>) => JsonObject {
  const entries = fields.flatMap((field) => {
    const name = nameSent(format, field);
    return name === undefined ? [] : [{ field, name }];
  });
  return (sampling) => {
    const body: JsonObject = {};
    for (const { field, name } of entries) {
      if (sampling[field] !== undefined) body[name] = sampling[field];
    }
    return body;
  };
}
