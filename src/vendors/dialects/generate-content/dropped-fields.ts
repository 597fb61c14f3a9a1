import type {
  CanonicalPrompt,
  CanonicalRequest,
  MessagePart,
} from '../../../canonical/canonical-request.js';
import { fieldsSent, type PromptField } from '../../../canonical/prompt-field-table.js';
import { fieldName, unsupportedFields } from '../../../canonical/prompt-fields.js';
import { encodeThinking } from './encode-thinking.js';
import { mustCallTool, SAMPLERS } from './encode-generate-content-request.js';
import type { ModelTraits } from './model-traits.js';
import { restrictSchema } from './restrict-schema.js';

const SUPPORTED = fieldsSent('generateContent');

/**
 * Lists the fields that this dialect does not support, or that the model honors only in part, by the
 * caller's names.
 */
export function droppedFields(request: CanonicalRequest, traits: ModelTraits): string[] {
  const prompt = request.prompt();
  const supported = new Set(SUPPORTED);
  if (!traits.takesSampling) for (const field of SAMPLERS) supported.delete(field);
  // Parallel calls are the default; only forbidding them has no counterpart.
  if (prompt.parallelToolCalls === true) supported.add('parallelToolCalls');
  const inexact = inexactFields(prompt, traits).map((field) => fieldName(request.dialect, field));
  const isLoose = prompt.tools.some(
    ({ parameters }) => parameters && !restrictSchema(parameters).isExact,
  );
  const names = [
    ...unsupportedFields(request, supported),
    ...inexact,
    ...(isLoose ? ['tools.parameters'] : []),
    ...droppedInMessages(prompt),
  ];
  return [...new Set(names)];
}

function inexactFields(prompt: CanonicalPrompt, traits: ModelTraits): PromptField[] {
  const fields: PromptField[] = [];
  if (!encodeThinking(prompt.reasoning, traits.thinking).isExact) fields.push('reasoning');
  const format = prompt.responseFormat;
  const isLoose = format?.type === 'json_schema' && !restrictSchema(format.schema).isExact;
  const isOmitted = format !== undefined && format.type !== 'text' && mustCallTool(prompt);
  if (isLoose || isOmitted) fields.push('responseFormat');
  return fields;
}

/** Lists dropped members of messages and tools. */
function droppedInMessages({ messages, tools }: CanonicalPrompt): string[] {
  const parts = messages.flatMap((message) => message.parts);
  const isMarked = (part: object): boolean => 'cacheControl' in part;
  const hasDetail = (part: MessagePart): boolean =>
    part.type === 'image' && part.detail !== undefined && part.detail !== 'auto';
  return [
    ...(messages.some(({ name }) => name !== undefined) ? ['messages.name'] : []),
    ...(parts.some(isMarked) || tools.some(isMarked) ? ['cache_control'] : []),
    ...(parts.some(hasDetail) ? ['image_url.detail'] : []),
    ...(parts.some((part) => part.type === 'document' && part.filename !== undefined)
      ? ['file.filename']
      : []),
  ];
}
