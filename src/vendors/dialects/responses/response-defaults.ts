import { isJsonObject, type JsonObject } from '../../../platform/http/json-body.js';

/**
 * Returns the members of a response object that repeat its request, with defaults for everything not
 * requested. Clients of the dialect rely on all of them.
 *
 * @param request the body as its caller sent it
 */
export function responseDefaults(request: JsonObject): JsonObject {
  const reasoning = isJsonObject(request.reasoning) ? request.reasoning : {};
  const text = isJsonObject(request.text) ? request.text : {};
  return {
    previous_response_id: request.previous_response_id ?? null,
    store: request.store !== false,
    metadata: request.metadata ?? {},
    instructions: request.instructions ?? null,
    max_output_tokens: request.max_output_tokens ?? null,
    max_tool_calls: request.max_tool_calls ?? null,
    parallel_tool_calls: request.parallel_tool_calls ?? true,
    reasoning: {
      ...reasoning,
      effort: reasoning.effort ?? null,
      summary: reasoning.summary ?? null,
    },
    temperature: request.temperature ?? 1,
    text: { ...text, format: text.format ?? { type: 'text' } },
    tool_choice: request.tool_choice ?? 'auto',
    tools: completeTools(request.tools),
    top_p: request.top_p ?? 1,
    top_logprobs: request.top_logprobs ?? 0,
    presence_penalty: request.presence_penalty ?? 0,
    frequency_penalty: request.frequency_penalty ?? 0,
    truncation: request.truncation ?? 'disabled',
    user: request.user ?? null,
    safety_identifier: request.safety_identifier ?? null,
    prompt_cache_key: request.prompt_cache_key ?? null,
    background: request.background === true,
    service_tier: request.service_tier ?? 'default',
    ...conversationOf(request.conversation),
  };
}

/** Adds the other members that a relayed response object must have. */
export function relayDefaults(request: JsonObject): JsonObject {
  const defaults = responseDefaults(request);
  // Assigned one by one: a spread of thirty members costs thirty times as much.
  defaults.completed_at = null;
  defaults.error = null;
  defaults.incomplete_details = null;
  return defaults;
}

/**
 * Returns the members that clients rely on and a vendor's response object lacks.
 *
 * @param defaults of the request, see `relayDefaults`
 */
export function missingMembers(response: JsonObject, defaults: Readonly<JsonObject>): JsonObject {
  const missing: JsonObject = {};
  for (const field in defaults) {
    const given = response[field];
    if (given === undefined || (given === null && defaults[field] !== null)) {
      missing[field] = defaults[field];
    }
  }
  if ('completed_at' in missing && response.status === 'completed') {
    missing.completed_at = unixSeconds();
  }
  if (Array.isArray(response.tools) && response.tools.some(lacksMembers)) {
    missing.tools = completeTools(response.tools);
  }
  const { usage } = response;
  if (isJsonObject(usage) && !(usage.input_tokens_details && usage.output_tokens_details)) {
    missing.usage = {
      input_tokens_details: { cached_tokens: 0 },
      output_tokens_details: { reasoning_tokens: 0 },
      ...usage,
    };
  }
  return missing;
}

/** Returns the current time in the dialect's format. */
export function unixSeconds(): number {
  return Math.floor(Date.now() / 1000);
}

/** Returns the conversation of the response, if any. */
function conversationOf(conversation: unknown): JsonObject {
  if (conversation == null) return {};
  const id = isJsonObject(conversation) ? conversation.id : conversation;
  return { conversation: { id } };
}

/** Returns the tools for display: functions have every member, null when not set. */
function completeTools(tools: unknown): unknown[] {
  const given: unknown[] = Array.isArray(tools) ? tools : [];
  return given.some(lacksMembers) ? given.map(completeTool) : given;
}

function completeTool(tool: unknown): unknown {
  if (!isJsonObject(tool) || !lacksMembers(tool)) return tool;
  const { description = null, parameters = null, strict = null } = tool;
  return { ...tool, description, parameters, strict };
}

function lacksMembers(tool: unknown): boolean {
  if (!isJsonObject(tool) || tool.type !== 'function') return false;
  const { description, parameters, strict } = tool;
  return description === undefined || parameters === undefined || strict === undefined;
}
