import type { ToolChoice, ToolDefinition } from '../../canonical/canonical-request.js';
import { optional, toCacheControl } from '../../canonical/prompt-parts.js';
import { isJsonObject } from '../../platform/http/json-body.js';
import type { ChatBody, ChatTool } from './chat-completion.schema.js';

/** Tools that the model may call, and its tool choice. */
export interface ChatTools {
  tools: ToolDefinition[];
  toolChoice: ToolChoice | undefined;
  /** Paths that the canonical form cannot represent. */
  droppedFields: string[];
}

/** Reads `tools` and `tool_choice`. Only functions have a canonical form. */
export function readChatTools({ tools, tool_choice: choice }: ChatBody): ChatTools {
  const given = tools ?? [];
  const allowed = readAllowedTools(choice);
  const toolChoice = allowed ? allowed.mode : toToolChoice(choice);
  const droppedFields = given.flatMap(({ function: definition }, index) =>
    definition ? [] : [`tools.${index}`],
  );
  if (choice != null && toolChoice === undefined) droppedFields.push('tool_choice');
  return {
    tools: given.flatMap(toTool).filter(({ name }) => !allowed || allowed.names.has(name)),
    toolChoice,
    droppedFields,
  };
}

/** A choice that allows a subset of the tools. Other dialects get only that subset. */
function readAllowedTools(
  choice: ChatBody['tool_choice'],
): { mode: 'auto' | 'required'; names: ReadonlySet<unknown> } | undefined {
  if (!isJsonObject(choice) || choice.type !== 'allowed_tools') return undefined;
  const { allowed_tools: allowed } = choice;
  if (!isJsonObject(allowed) || !Array.isArray(allowed.tools)) return undefined;
  const names = allowed.tools
    .filter(isJsonObject)
    .map(({ function: definition }) => (isJsonObject(definition) ? definition.name : undefined));
  return { mode: allowed.mode === 'required' ? 'required' : 'auto', names: new Set(names) };
}

function toToolChoice(choice: ChatBody['tool_choice']): ToolChoice | undefined {
  if (choice === 'auto' || choice === 'none' || choice === 'required') return choice;
  return isJsonObject(choice) && choice.function ? { name: choice.function.name } : undefined;
}

function toTool(tool: ChatTool): ToolDefinition[] {
  if (!tool.function) return [];
  const { name, description, parameters, strict } = tool.function;
  const cacheControl = tool.cache_control ?? tool.function.cache_control;
  return [
    {
      name,
      ...optional('description', description),
      ...optional('parameters', parameters),
      ...optional('strict', strict),
      ...optional('cacheControl', toCacheControl(cacheControl)),
    },
  ];
}
