import type {
  CanonicalPrompt,
  ReasoningControl,
  ResponseFormat,
  ToolChoice,
} from '../../canonical/canonical-request.js';
import { membersRead, samplingReader } from '../../canonical/prompt-field-table.js';
import { optional } from '../../canonical/prompt-parts.js';
import { GATEWAY_FIELDS } from '../../canonical/routing-fields.js';
import { isJsonObject, type JsonObject } from '../../platform/http/json-body.js';
import { itemsOfInput } from './complete-body.js';
import type { CompleteBody, ResponseTool, TextFormat } from './create-response.schema.js';
import { clientFunctions, functionName, isBuiltInTool, toFunctions } from './client-tools.js';
import { readItems } from './read-items.js';

/** Fields that the canonical form carries in some way, or that belong to the gateway. */
const READ_FIELDS = new Set([
  ...GATEWAY_FIELDS,
  'model',
  'input',
  'instructions',
  'previous_response_id',
  'store',
  'stream',
  'stream_options',
  'metadata',
  'max_output_tokens',
  'tools',
  'include',
  'truncation',
  'service_tier',
  'background',
  'conversation',
  ...membersRead('responses'),
]);
const readSampling = samplingReader('responses');

/** The `include` value that every dialect supports. */
const LOGPROBS = 'message.output_text.logprobs';
const READ_INCLUDES: ReadonlySet<unknown> = new Set([LOGPROBS, 'reasoning.encrypted_content']);

/**
 * Converts a validated body to the canonical prompt.
 * @param historyLength number of items from earlier turns
 */
export function responsesPrompt(body: CompleteBody, historyLength: number): CanonicalPrompt {
  const { messages, droppedFields } = readItems(itemsOfInput(body.input), historyLength);
  if (typeof body.instructions === 'string' && body.instructions !== '') {
    messages.unshift({ role: 'system', parts: [{ type: 'text', text: body.instructions }] });
  }
  const tools = body.tools ?? [];
  const choice = readToolChoice(body.tool_choice);
  return {
    messages,
    tools: clientFunctions(tools, body.input)
      .map(({ definition }) => definition)
      .filter(({ name }) => !choice.allowed || choice.allowed.has(name)),
    toolChoice: choice.toolChoice,
    parallelToolCalls: body.parallel_tool_calls ?? undefined,
    responseFormat: toResponseFormat(body.text?.format),
    reasoning: toReasoning(body.reasoning),
    sampling: { ...readSampling(body), ...(wantsLogprobs(body) && { logprobs: true }) },
    endUser: body.safety_identifier ?? body.user ?? undefined,
    droppedFields: [
      ...droppedFields,
      ...droppedBodyFields(body, tools),
      ...(body.tool_choice != null && choice.toolChoice === undefined ? ['tool_choice'] : []),
    ],
  };
}

function droppedBodyFields(body: CompleteBody, tools: readonly ResponseTool[]): string[] {
  const fields = Object.keys(body).filter((key) => body[key] != null && !READ_FIELDS.has(key));
  if (body.text?.verbosity != null) fields.push('text.verbosity');
  if (body.reasoning?.summary != null) {
    fields.push('reasoning.summary');
  }
  if (body.truncation === 'auto') fields.push('truncation');
  if (body.include?.some((name) => !READ_INCLUDES.has(name))) fields.push('include');
  for (const [index, tool] of tools.entries()) {
    if (tool.type === 'custom' && tool.format != null) fields.push(`tools.${index}.format`);
    if (toFunctions(tool).length === 0) fields.push(`tools.${index}`);
  }
  return fields;
}

/** Returns the tool choice, with the allowed tool names when it restricts them. */
function readToolChoice(choice: unknown): {
  toolChoice: ToolChoice | undefined;
  allowed?: ReadonlySet<unknown>;
} {
  if (choice === 'auto' || choice === 'none' || choice === 'required')
    return { toolChoice: choice };
  if (!isJsonObject(choice)) return { toolChoice: undefined };
  if (choice.type === 'allowed_tools') {
    const tools = Array.isArray(choice.tools) ? choice.tools.filter(isJsonObject) : [];
    return {
      toolChoice: choice.mode === 'required' ? 'required' : 'auto',
      allowed: new Set(tools.map(readToolName)),
    };
  }
  const name = readToolName(choice);
  return { toolChoice: name === undefined ? undefined : { name } };
}

/** Returns the function name of the chosen tool. */
function readToolName({ type, name, namespace }: JsonObject): string | undefined {
  if (typeof name === 'string') return functionName(name, namespace);
  return isBuiltInTool(type) ? type : undefined;
}

function toResponseFormat(format: TextFormat | null | undefined): ResponseFormat | undefined {
  if (!format) return undefined;
  if (format.type === 'json_object') return { type: 'json_object' };
  if (format.type !== 'json_schema') return { type: 'text' };
  return {
    type: 'json_schema',
    name: typeof format.name === 'string' ? format.name : 'response',
    schema: isJsonObject(format.schema) ? format.schema : {},
    ...optional('strict', typeof format.strict === 'boolean' ? format.strict : undefined),
  };
}

function toReasoning(control: CompleteBody['reasoning']): ReasoningControl | undefined {
  if (!control) return undefined;
  const reasoning = {
    ...optional('effort', control.effort),
    ...optional('maxTokens', control.max_tokens),
    ...optional('enabled', typeof control.enabled === 'boolean' ? control.enabled : undefined),
  };
  return Object.keys(reasoning).length > 0 ? reasoning : undefined;
}

/** Returns whether the caller wants token log probabilities. */
function wantsLogprobs({ include, top_logprobs }: JsonObject): boolean {
  return top_logprobs != null || (Array.isArray(include) && include.includes(LOGPROBS));
}
