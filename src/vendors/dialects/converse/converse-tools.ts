import type {
  CanonicalRequest,
  ResponseFormat,
  ToolChoice,
  ToolDefinition,
} from '../../../canonical/canonical-request.js';
import { fieldName } from '../../../canonical/prompt-fields.js';
import type { JsonObject } from '../../../platform/http/json-body.js';
import { unsupported } from '../../upstream-error.js';
import { JSON_INSTRUCTION, unusedToolName, mapToolId } from '../tool-calls.js';
import { cachePoint } from './converse-blocks.js';
import type { ConverseReasoning } from './converse-reasoning.js';
import type { ConverseTraits } from './converse-traits.js';
import { toNativeSchema } from './native-schema.js';
import { createHash } from 'node:crypto';

const MAX_LENGTH = 64;

const NINE_CHARACTERS = /^[A-Za-z0-9]{9}$/;

/** A request's tools and answer format, as one model accepts them. */
interface ConverseTools {
  /** Undefined: no tools, which must not appear in the conversation then. */
  toolConfig?: JsonObject;
  /** The model's own `tool_choice`, for `additionalModelRequestFields`, instead of the API's. */
  toolChoiceField?: JsonObject;
  /** For `outputConfig`. */
  textFormat?: JsonObject;
  /** The tool whose arguments are the answer's text. */
  jsonTool?: string;
  /** A sentence for the system prompt that asks for JSON when nothing else can. */
  jsonInstruction?: string;
}

type JsonPlan =
  | { kind: 'none' | 'instruction' }
  | { kind: 'native' | 'tool'; name: string; schema: JsonObject };

const JSON_TOOL = 'answer_in_json';
const JSON_TOOL_DESCRIPTION =
  'Gives the answer to the user. Call it once, with the whole answer as its input.';

/** @throws UpstreamError `unsupported` when the requested choice or format cannot be enforced on this model */
export function converseTools(
  request: CanonicalRequest,
  traits: ConverseTraits,
  reasoning: ConverseReasoning,
): ConverseTools {
  const { tools, toolChoice, parallelToolCalls, responseFormat } = request.prompt();
  const offered = toolChoice === 'none' ? [] : tools;
  // Models cannot be forced to call a tool while they think.
  const canForce = traits.forcedTools !== 'none' && !reasoning.isThinking;
  const choice = offered.length > 0 ? toolChoice : undefined;
  const param = fieldName(request.dialect, 'responseFormat');
  // A forced call is the whole answer, without text that could be JSON.
  const json = isForced(choice) ? NO_JSON : planJson(responseFormat, traits, canForce, param);
  const specs = offered.flatMap((tool) => toolSpec(tool, traits));

  if (json.kind === 'tool') {
    const jsonTool = unusedToolName(offered, JSON_TOOL);
    const inputSchema = { json: json.schema };
    specs.push({
      toolSpec: { name: jsonTool, description: JSON_TOOL_DESCRIPTION, inputSchema },
    });
    const isAlone = offered.length === 0 && traits.forcedTools === 'any-or-named';
    const forced = isAlone ? { tool: { name: jsonTool } } : { any: {} };
    return { toolConfig: { tools: specs, toolChoice: forced }, jsonTool };
  }
  return {
    ...(specs.length > 0 && choose(specs, choice, parallelToolCalls, request, traits, canForce)),
    ...(json.kind === 'native' && { textFormat: textFormat(json.name, json.schema) }),
    ...(json.kind === 'instruction' && { jsonInstruction: JSON_INSTRUCTION }),
  };
}

const NO_JSON: JsonPlan = { kind: 'none' };

function isForced(choice: ToolChoice | undefined): boolean {
  return choice === 'required' || typeof choice === 'object';
}

function planJson(
  format: ResponseFormat | undefined,
  traits: ConverseTraits,
  canForce: boolean,
  param: string,
): JsonPlan {
  if (!format || format.type === 'text') return NO_JSON;
  if (format.type === 'json_object') {
    return canForce
      ? { kind: 'tool', name: JSON_TOOL, schema: { type: 'object' } }
      : { kind: 'instruction' };
  }
  const { name, schema } = format;
  const native = traits.nativeSchemas ? toNativeSchema(schema) : undefined;
  if (native) return { kind: 'native', name, schema: native };
  if (canForce && schema.type === 'object') return { kind: 'tool', name, schema };
  throw unsupported(param, 'This JSON schema cannot be enforced on this model.');
}

function textFormat(name: string, schema: JsonObject): JsonObject {
  return {
    type: 'json_schema',
    structure: { jsonSchema: { name, schema: JSON.stringify(schema) } },
  };
}

function toolSpec(tool: ToolDefinition, traits: ConverseTraits): JsonObject[] {
  const { name, description, parameters, strict, cacheControl } = tool;
  const spec: JsonObject = {
    name,
    ...(description?.trim() && { description }),
    inputSchema: { json: { type: 'object', ...parameters } },
    ...(strict === true && traits.strictTools && { strict }),
  };
  const isCached = traits.cachePoints === 'everywhere';
  return [{ toolSpec: spec }, ...(isCached ? cachePoint(cacheControl, traits) : [])];
}

function choose(
  tools: JsonObject[],
  choice: ToolChoice | undefined,
  parallelToolCalls: boolean | undefined,
  request: CanonicalRequest,
  traits: ConverseTraits,
  canForce: boolean,
): Pick<ConverseTools, 'toolConfig' | 'toolChoiceField'> {
  const isNamed = typeof choice === 'object';
  const canName = traits.forcedTools === 'any-or-named';
  if (isForced(choice) && (!canForce || (isNamed && !canName))) {
    throw unsupported(
      fieldName(request.dialect, 'toolChoice'),
      'This model cannot be forced to call a tool, or not while it reasons.',
    );
  }
  if (parallelToolCalls === false && traits.singleToolCalls) {
    const type = isNamed ? 'tool' : choice === 'required' ? 'any' : 'auto';
    const toolChoiceField = {
      type,
      ...(isNamed && { name: choice.name }),
      disable_parallel_tool_use: true,
    };
    return { toolConfig: { tools }, toolChoiceField };
  }
  if (isNamed) return { toolConfig: { tools, toolChoice: { tool: { name: choice.name } } } };
  if (choice === 'required') return { toolConfig: { tools, toolChoice: { any: {} } } };
  return { toolConfig: { tools } };
}

/** Maps a tool call's id to one that the model accepts; distinct ids stay distinct, equal ones equal. */
export function converseToolId(id: string, { toolIds }: Pick<ConverseTraits, 'toolIds'>): string {
  if (toolIds === 'any') return mapToolId(id, MAX_LENGTH);
  if (NINE_CHARACTERS.test(id)) return id;
  return createHash('sha256').update(id).digest('hex').slice(0, 9);
}
