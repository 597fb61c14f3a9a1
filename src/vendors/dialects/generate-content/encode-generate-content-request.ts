import type {
  CanonicalRequest,
  CanonicalPrompt,
  ToolDefinition,
} from '../../../canonical/canonical-request.js';
import { encodeContents } from './encode-contents.js';
import type { ModelTraits } from './model-traits.js';
import {
  samplingEncoder,
  samplingSent,
  type PromptField,
  type SamplingField,
} from '../../../canonical/prompt-field-table.js';
import { fieldName } from '../../../canonical/prompt-fields.js';
import type { JsonObject } from '../../../platform/http/json-body.js';
import { unsupported } from '../../upstream-error.js';
import { encodeThinking } from './encode-thinking.js';
import { restrictSchema } from './restrict-schema.js';

const MAX_STOP_SEQUENCES = 5;

/** The vendor's seeds are signed 32-bit integers. */
const SEED_RANGE = 2 ** 31;

/** Fields that only models with `takesSampling` get. */
export const SAMPLERS: readonly SamplingField[] = ['temperature', 'topP', 'topK'];
/** Sent first, in this order. */
const FIRST_CONTROLS: readonly SamplingField[] = [
  'stop',
  'seed',
  'presencePenalty',
  'frequencyPenalty',
];
const CONTROLS = new Set([...FIRST_CONTROLS, ...samplingSent('generateContent')]);
for (const field of SAMPLERS) CONTROLS.delete(field);

const encodeSamplers = samplingEncoder('generateContent', SAMPLERS);
const encodeControls = samplingEncoder('generateContent', [...CONTROLS]);

/**
 * Encodes the body of a `generateContent` or `streamGenerateContent` call, which is the same.
 *
 * @param ownOutputLimit see `UpstreamCall`
 * @throws UpstreamError `caller` or `unsupported`, naming the field that cannot be encoded
 */
export function encodeGenerateContentRequest(
  request: CanonicalRequest,
  traits: ModelTraits,
  ownOutputLimit?: number,
): Buffer {
  const body = {
    ...encodeContents(request, traits),
    ...encodeTools(request.prompt(), traits),
    generationConfig: encodeGenerationConfig(request, traits, ownOutputLimit),
  };
  return Buffer.from(JSON.stringify(body));
}

/**
 * Encodes the controls of an answer; undefined members are not sent.
 *
 * @throws UpstreamError `unsupported`, naming the field, for features that this model lacks
 */
function encodeGenerationConfig(
  request: CanonicalRequest,
  traits: ModelTraits,
  ownOutputLimit?: number,
): JsonObject {
  const prompt = request.prompt();
  const { sampling } = prompt;
  assertPossible(request, traits);
  const wantsLogprobs = sampling.logprobs === true || (sampling.topLogprobs ?? 0) > 0;
  return {
    ...(traits.takesSampling && encodeSamplers(sampling)),
    maxOutputTokens: request.maxOutputTokens ?? ownOutputLimit,
    candidateCount: request.choices > 1 ? request.choices : undefined,
    ...encodeControls({
      ...sampling,
      seed: sampling.seed === undefined ? undefined : sampling.seed % SEED_RANGE,
      presencePenalty: sampling.presencePenalty || undefined,
      frequencyPenalty: sampling.frequencyPenalty || undefined,
      logprobs: wantsLogprobs || undefined,
      topLogprobs: wantsLogprobs ? sampling.topLogprobs || undefined : undefined,
    }),
    ...encodeFormat(request),
    thinkingConfig: encodeThinking(prompt.reasoning, traits.thinking).thinkingConfig,
  };
}

/** Omits the format when a tool call is required: the vendor rejects it, and such an answer has no text. */
function encodeFormat(request: CanonicalRequest): JsonObject {
  const prompt = request.prompt();
  const format = prompt.responseFormat;
  if (!format || format.type === 'text' || mustCallTool(prompt)) return {};
  return {
    responseMimeType: 'application/json',
    ...(format.type === 'json_schema' && {
      responseJsonSchema: restrictSchema(format.schema).schema,
    }),
  };
}

function assertPossible(request: CanonicalRequest, traits: ModelTraits): void {
  const prompt = request.prompt();
  const { stop = [], presencePenalty = 0, frequencyPenalty = 0 } = prompt.sampling;
  const refuse = (field: PromptField | 'n', message: string): never => {
    const param = field === 'n' ? field : fieldName(request.dialect, field);
    throw unsupported(param, message);
  };
  if (request.choices > traits.maxCandidates) {
    refuse('n', `This model returns at most ${traits.maxCandidates} answer(s) per request.`);
  }
  if (stop.length > MAX_STOP_SEQUENCES) {
    refuse('stop', `This provider accepts at most ${MAX_STOP_SEQUENCES} stop sequences.`);
  }
  if (!traits.takesPenalties && presencePenalty !== 0) {
    refuse('presencePenalty', 'This model does not support a presence penalty.');
  }
  if (!traits.takesPenalties && frequencyPenalty !== 0) {
    refuse('frequencyPenalty', 'This model does not support a frequency penalty.');
  }
  const wantsJson = (prompt.responseFormat?.type ?? 'text') !== 'text';
  const hasTools = offersTools(prompt, traits) && !mustCallTool(prompt);
  if (wantsJson && hasTools && !traits.formatsBesideTools) {
    refuse('responseFormat', 'This model does not support JSON answers together with tools.');
  }
}

interface EncodedTools {
  tools?: { functionDeclarations: JsonObject[] }[];
  toolConfig?: { functionCallingConfig: FunctionCallingConfig };
}

interface FunctionCallingConfig {
  mode: 'AUTO' | 'NONE' | 'ANY' | 'VALIDATED';
  allowedFunctionNames?: string[];
}

/** Encodes tools and which of them may or must be called; empty without tools. */
function encodeTools(prompt: CanonicalPrompt, traits: ModelTraits): EncodedTools {
  const { tools } = prompt;
  if (tools.length === 0 || !offersTools(prompt, traits)) return {};
  const functionCallingConfig = encodeChoice(prompt);
  return {
    tools: [{ functionDeclarations: tools.map(encodeTool) }],
    ...(functionCallingConfig && { toolConfig: { functionCallingConfig } }),
  };
}

/** Returns whether the answer must be a tool call. */
export function mustCallTool({ tools, toolChoice }: CanonicalPrompt): boolean {
  return tools.length > 0 && (toolChoice === 'required' || typeof toolChoice === 'object');
}

/** Omits tools that may not be called when they would conflict with a JSON answer. */
function offersTools(
  { tools, toolChoice, responseFormat }: CanonicalPrompt,
  { formatsBesideTools }: ModelTraits,
): boolean {
  const isInTheWay = !formatsBesideTools && (responseFormat?.type ?? 'text') !== 'text';
  return tools.length > 0 && !(toolChoice === 'none' && isInTheWay);
}

function encodeTool({ name, description, parameters }: ToolDefinition): JsonObject {
  return {
    name,
    ...(description !== undefined && { description }),
    ...(parameters && { parametersJsonSchema: restrictSchema(parameters).schema }),
  };
}

function encodeChoice({ tools, toolChoice }: CanonicalPrompt): FunctionCallingConfig | undefined {
  const isStrict = tools.some((tool) => tool.strict === true);
  switch (toolChoice) {
    case undefined:
      return isStrict ? { mode: 'VALIDATED' } : undefined;
    case 'auto':
      return { mode: isStrict ? 'VALIDATED' : 'AUTO' };
    case 'none':
      return { mode: 'NONE' };
    case 'required':
      return { mode: 'ANY' };
    default:
      return { mode: 'ANY', allowedFunctionNames: [toolChoice.name] };
  }
}
