import type {
  CanonicalRequest,
  MessagePart,
  ToolDefinition,
} from '../../../canonical/canonical-request.js';
import {
  fieldsSent,
  nameSent,
  samplingEncoder,
  type PromptField,
  type SamplingParameters,
} from '../../../canonical/prompt-field-table.js';
import {
  conversationField,
  fieldName,
  unsupportedFields,
} from '../../../canonical/prompt-fields.js';
import type { JsonObject } from '../../../platform/http/json-body.js';
import { unsupported } from '../../upstream-error.js';
import type { PromptMedia } from '../fetch-prompt-media.js';
import { converseMessages } from './converse-messages.js';
import { converseTools } from './converse-tools.js';
import type { ConverseTraits } from './converse-traits.js';
import {
  converseReasoning,
  type ConverseReasoning,
  continuesUnsigned,
} from './converse-reasoning.js';

/** Values that the API accepts in `requestMetadata`. */
const METADATA_VALUE = /^[a-zA-Z0-9\s:_@$#=/+,.-]{1,256}$/;

interface EncodeConverseOptions {
  traits: ConverseTraits;
  /** Called once, and only after the other checks have passed. */
  fetchMedia: () => Promise<PromptMedia>;
  maxOutputTokens: number;
  /** Further `additionalModelRequestFields` from the adapter. */
  modelFields?: JsonObject;
}

interface EncodedConverseRequest {
  body: JsonObject;
  /** The tool whose arguments are the answer's text. */
  jsonTool: string | undefined;
}

/** Fields that the API supports for at least some models; `converseControls` decides for which. */
const SUPPORTED = new Set(fieldsSent('converse'));
const encodeAccepted = samplingEncoder('converse');

/**
 * Encodes the body of `Converse` and `ConverseStream`, which is the same.
 *
 * @throws UpstreamError `unsupported` for features that this model lacks, or whatever `fetchMedia` throws
 */
export async function encodeConverseRequest(
  request: CanonicalRequest,
  { traits, fetchMedia, maxOutputTokens, modelFields }: EncodeConverseOptions,
): Promise<EncodedConverseRequest> {
  if (request.choices > 1)
    throw unsupported('n', 'This model returns one answer per request; set `n` to 1.');
  const controls = converseControls(request, traits, maxOutputTokens);
  const { reasoning, inferenceConfig, requestMetadata } = controls;
  const tools = converseTools(request, traits, reasoning);
  const { toolConfig, toolChoiceField, textFormat, jsonTool, jsonInstruction } = tools;
  const { system, messages } = converseMessages(request.prompt(), {
    traits,
    media: await fetchMedia(),
    param: conversationField(request.dialect),
    hasTools: toolConfig !== undefined,
  });
  if (jsonInstruction !== undefined) system.push({ text: jsonInstruction });
  const fields = {
    ...controls.fields,
    ...(toolChoiceField && { tool_choice: toolChoiceField }),
    ...modelFields,
  };
  const { effort } = reasoning;
  const outputConfig = { ...(textFormat && { textFormat }), ...(effort && { effort }) };
  const body = {
    messages,
    ...(system.length > 0 && { system }),
    inferenceConfig,
    ...(toolConfig && { toolConfig }),
    ...(isFilled(fields) && { additionalModelRequestFields: fields }),
    ...(traits.namesStopSequence && {
      additionalModelResponseFieldPaths: [
        request.stream ? '/delta/stop_sequence' : '/stop_sequence',
      ],
    }),
    ...(isFilled(outputConfig) && { outputConfig }),
    ...(requestMetadata && { requestMetadata }),
  };
  return { body, jsonTool };
}

/** Lists the fields that this model does not support, by the caller's names. */
export function droppedByConverse(request: CanonicalRequest, traits: ConverseTraits): string[] {
  const { messages, tools, parallelToolCalls } = request.prompt();
  // Without a caller's limit, the route's leaves room for everything.
  const limit = request.maxOutputTokens ?? Number.MAX_SAFE_INTEGER;
  const dropped = [
    ...unsupportedFields(request, SUPPORTED),
    ...converseControls(request, traits, limit).dropped,
  ];
  if (parallelToolCalls === false && tools.length > 0 && !traits.singleToolCalls) {
    dropped.push(fieldName(request.dialect, 'parallelToolCalls'));
  }
  if (!traits.strictTools && tools.some(({ strict }) => strict === true)) {
    dropped.push('tools.strict');
  }
  const parts = messages.flatMap((message) => message.parts.flatMap(withInnerParts));
  if (messages.some((message) => message.name !== undefined)) dropped.push('messages.name');
  if (parts.some((part) => part.type === 'image' && part.detail !== undefined)) {
    dropped.push('image_url.detail');
  }
  return [...new Set([...dropped, ...droppedCacheMarks(parts, tools, traits)])];
}

function droppedCacheMarks(
  parts: readonly MessagePart[],
  tools: readonly ToolDefinition[],
  { cachePoints, longCache }: ConverseTraits,
): string[] {
  const inParts = parts.flatMap((part) =>
    'cacheControl' in part ? (part.cacheControl ?? []) : [],
  );
  const inTools = tools.flatMap(({ cacheControl }) => cacheControl ?? []);
  const wanted = [...inParts, ...inTools];
  const taken = { everywhere: wanted, 'not-in-tools': inParts, none: [] }[cachePoints];
  if (taken.length < wanted.length) return ['cache_control'];
  return !longCache && taken.some(({ ttl }) => ttl === '1h') ? ['cache_control.ttl'] : [];
}

function isFilled(fields: object): boolean {
  return Object.keys(fields).length > 0;
}

function withInnerParts(part: MessagePart): MessagePart[] {
  return part.type === 'tool_result' ? [part, ...part.parts] : [part];
}

/** A request's controls except for tools, as one model accepts them. */
interface ConverseControls {
  inferenceConfig: JsonObject;
  /** For `additionalModelRequestFields`. */
  fields: JsonObject;
  reasoning: ConverseReasoning;
  requestMetadata?: Record<string, string>;
  /** Dropped fields, by the caller's names. */
  dropped: string[];
}

/** @throws UpstreamError `unsupported` for a value that this model rejects */
export function converseControls(
  request: CanonicalRequest,
  traits: ConverseTraits,
  maxOutputTokens: number,
): ConverseControls {
  const { messages, sampling, reasoning: control, endUser } = request.prompt();
  const name = (field: PromptField): string => fieldName(request.dialect, field);
  const dropped: string[] = [];
  const canThink = traits.reasoning.kind !== 'budget' || !continuesUnsigned(messages, traits);
  const reasoning = converseReasoning(control, traits, { maxOutputTokens, canThink });
  if (reasoning.lost.has('reasoning')) dropped.push(name('reasoning'));
  if (reasoning.lost.has('budget')) dropped.push(budgetName(request));

  const fields: JsonObject = { ...reasoning.fields };
  // Models reject sampling controls while they think.
  const { isThinking } = reasoning;

  const { temperature, topP, topK, stop, ...others } = sampling;
  const accepted: SamplingParameters = others;
  if (temperature !== undefined) {
    if (traits.samplers === 'none' || isThinking) dropped.push(name('temperature'));
    else if (temperature > 1) {
      throw unsupported(
        name('temperature'),
        'Temperatures for this model must be between 0 and 1.',
      );
    } else accepted.temperature = temperature;
  }
  if (topP !== undefined) {
    const isSecond = traits.samplers === 'one' && temperature !== undefined;
    if (traits.samplers === 'none' || isThinking || isSecond) dropped.push(name('topP'));
    else accepted.topP = topP;
  }
  if (topK !== undefined) {
    if (traits.topK === 'none' || isThinking) dropped.push(name('topK'));
    else if (traits.topK === 'field') fields[nameSent('converse', 'topK')!] = topK;
    else fields.inferenceConfig = { topK };
  }
  if (stop !== undefined && stop.length > 0) {
    if (traits.stops === 'none') dropped.push(name('stop'));
    else if (traits.stops === 'not-blank' && stop.some((sequence) => sequence.trim() === '')) {
      throw unsupported(
        name('stop'),
        'This model does not support stop sequences of white space; include a visible character.',
      );
    } else accepted.stop = stop;
  }
  const isNameable = endUser !== undefined && METADATA_VALUE.test(endUser);
  if (endUser !== undefined && !isNameable) dropped.push(name('endUser'));
  return {
    inferenceConfig: { maxTokens: maxOutputTokens, ...encodeAccepted(accepted) },
    fields,
    reasoning,
    ...(isNameable && { requestMetadata: { end_user: endUser } }),
    dropped,
  };
}

function budgetName({ dialect }: CanonicalRequest): string {
  return dialect === 'messages' ? 'thinking.budget_tokens' : 'reasoning.max_tokens';
}
