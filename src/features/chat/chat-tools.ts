import type { ToolChoice, ToolDefinition } from '../../canonical/canonical-request.js';
import { toCacheControl, optional } from '../../canonical/prompt-parts.js';
import { isJsonObject, type JsonObject } from '../../platform/http/json-body.js';

/** The tools that the model may call, and how it has to choose among them. */
export interface ChatTools {
  tools: ToolDefinition[];
  toolChoice: ToolChoice | undefined;
  /** Paths of what the canonical form has no place for. */
  leftOver: string[];
}

/** Reads `tools` and `tool_choice`; of tools only functions have a canonical form. */
export function readChatTools({ tools, tool_choice: choice }: JsonObject): ChatTools {
  const given = (tools ?? []) as JsonObject[];
  const allowed = readAllowedTools(choice);
  const toolChoice = allowed ? allowed.mode : toToolChoice(choice);
  const leftOver = given.flatMap(({ function: definition }, index) =>
    isJsonObject(definition) ? [] : [`tools.${index}`],
  );
  if (choice != null && toolChoice === undefined) leftOver.push('tool_choice');
  return {
    tools: given.flatMap(toTool).filter(({ name }) => !allowed || allowed.names.has(name)),
    toolChoice,
    leftOver,
  };
}

/** A choice that leaves only some of the tools, which for other dialects are all there are. */
function readAllowedTools(
  choice: unknown,
): { mode: 'auto' | 'required'; names: ReadonlySet<unknown> } | undefined {
  if (!isJsonObject(choice) || choice.type !== 'allowed_tools') return undefined;
  const { allowed_tools: allowed } = choice;
  if (!isJsonObject(allowed) || !Array.isArray(allowed.tools)) return undefined;
  const names = allowed.tools
    .filter(isJsonObject)
    .map(({ function: definition }) => (isJsonObject(definition) ? definition.name : undefined));
  return { mode: allowed.mode === 'required' ? 'required' : 'auto', names: new Set(names) };
}

function toToolChoice(choice: unknown): ToolChoice | undefined {
  if (choice === 'auto' || choice === 'none' || choice === 'required') return choice;
  if (isJsonObject(choice) && isJsonObject(choice.function)) {
    return { name: String(choice.function.name) };
  }
  return undefined;
}

function toTool(tool: JsonObject): ToolDefinition[] {
  if (!isJsonObject(tool.function)) return [];
  const { name, description, parameters, strict } = tool.function;
  const cacheControl = tool.cache_control ?? tool.function.cache_control;
  return [
    {
      name: name as string,
      ...optional('description', description as string | null | undefined),
      ...optional('parameters', parameters as Record<string, unknown> | null | undefined),
      ...optional('strict', strict as boolean | null | undefined),
      ...optional('cacheControl', toCacheControl(cacheControl)),
    },
  ];
}
