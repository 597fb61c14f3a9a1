import {
  searchesWithin,
  type AccountBoundParam,
  type CanonicalRequest,
  type WebSearch,
} from '../../canonical/canonical-request.js';
import { readEndUser } from '../../canonical/end-user.js';
import { onceFor } from '../../canonical/once.js';
import { PromptMeter } from '../../canonical/prompt-size.js';
import { InvalidRequestError } from '../../platform/errors/gateway-errors.js';
import { isJsonObject, type JsonBody, type JsonObject } from '../../platform/http/json-body.js';
import { assertValidBody, compileSchema } from '../../platform/http/validate-body.js';
import { isBuiltInTool, isClientTool } from './client-tools.js';
import { completeBody } from './complete-body.js';
import type { Conversation } from './stored-responses.repository.js';
import {
  createResponseSchema,
  type CompleteBody,
  type ResponsesBody,
} from './create-response.schema.js';
import { measureItems } from './measure-responses-prompt.js';
import { responsesPrompt } from './responses.prompt.js';
import {
  findBilledServiceTier,
  notOnSharedCapacity,
  readModelChain,
  readRoutingPreferences,
} from '../../canonical/routing-fields.js';

/** The vendor-run tool that is priced per use. */
const SEARCH_TOOL = /^web_search(?:_preview)?(?:_\d{4}_\d{2}_\d{2})?$/;

/** `tool_choice` forms that name no vendor-run tool. */
const OWN_CHOICES: ReadonlySet<unknown> = new Set(['function', 'custom', 'allowed_tools']);

/** Tools that must have a name to be called or chosen. */
const NAMED_TOOLS: ReadonlySet<unknown> = new Set(['function', 'custom', 'namespace']);

const validate = compileSchema(createResponseSchema);

/** Body members besides the items that are part of the prompt. */
const PROMPT_MEMBERS = new Set(['instructions', 'text', 'response_format']);
const TOOL_MEMBER = 'tools';

/**
 * Checks the body's shape and requires input.
 * @throws InvalidRequestError naming the first invalid field
 */
export function checkResponsesBody(body: JsonBody): asserts body is JsonBody<ResponsesBody> {
  assertValidBody(validate, body);
  const { input, tools } = body.value;
  if (input == null) {
    throw new InvalidRequestError(
      'input',
      'The parameter `input` is missing. Send text or an array of items.',
    );
  }
  if (Array.isArray(input) && input.length === 0) {
    throw new InvalidRequestError('input', '`input` must contain at least one item.');
  }
  for (const [index, tool] of (tools ?? []).entries()) {
    if (!NAMED_TOOLS.has(tool.type) || tool.name !== undefined) continue;
    throw new InvalidRequestError(`tools.${index}.name`, `\`tools.${index}.name\` is required.`);
  }
}

export interface ParseOptions {
  /** Id of the answer. */
  answerId: string;
  /** Earlier turns. */
  conversation: Conversation | undefined;
  /** Items of the request's own input, with references resolved. */
  ownItems: readonly JsonObject[];
}

/**
 * Converts a validated body to the canonical form.
 * @throws InvalidRequestError naming the first invalid field
 */
export function parseResponses(
  received: JsonBody<ResponsesBody>,
  { answerId, conversation, ownItems }: ParseOptions,
): CanonicalRequest {
  const models = readModelChain(received.value);
  const history = conversation?.items ?? [];
  const body = completeBody(received, history, ownItems);
  const { value } = body;

  const meter = new PromptMeter();
  const historyParam =
    conversation?.storedIn === undefined ? 'previous_response_id' : 'conversation';
  const inHistory = measureItems(history, () => historyParam, meter);
  const isText = typeof received.value.input === 'string';
  const inInput = measureItems(ownItems, (index) => (isText ? 'input' : `input.${index}`), meter);
  // Schemas are part of the prompt. Their byte length stands for characters.
  for (const { key, valueStart, valueEnd } of received.members) {
    if (PROMPT_MEMBERS.has(key)) meter.addBytes(valueEnd - valueStart);
    else if (key === TOOL_MEMBER) meter.addTools(valueEnd - valueStart);
  }
  const webSearch = readWebSearch(value);
  return {
    dialect: 'responses',
    body,
    models,
    routing: readRoutingPreferences(value),
    stream: value.stream === true,
    choices: 1,
    maxOutputTokens: value.max_output_tokens ?? undefined,
    endUser: readEndUser(value.safety_identifier ?? value.user),
    promptSize: meter.size(),
    accountBoundParam: inInput ?? inHistory ?? findAccountBoundField(value),
    ...(webSearch && { webSearch }),
    answerId,
    prompt: onceFor(
      () => body.value,
      (complete) => responsesPrompt(complete, history.length),
    ),
  };
}

/** Finds a field that refers to a vendor account or whose cost the catalogue cannot price. */
function findAccountBoundField(value: CompleteBody): AccountBoundParam | undefined {
  if (value.prompt != null)
    return notOnSharedCapacity('prompt', 'it refers to an object in a vendor account');
  const tools = value.tools ?? [];
  const foreign = tools.findIndex((tool) => !isClientTool(tool) && !SEARCH_TOOL.test(tool.type));
  if (foreign !== -1) {
    return notOnSharedCapacity(`tools.${foreign}.type`, 'vendor-run tools are billed separately');
  }
  const choice = value.tool_choice;
  if (isJsonObject(choice) && !isOwnChoice(choice)) {
    return notOnSharedCapacity('tool_choice.type', 'vendor-run tools are billed separately');
  }
  // Checked last: some shared routes accept a service tier, but none accept the others.
  return findBilledServiceTier(value);
}

function isOwnChoice({ type }: JsonObject): boolean {
  return OWN_CHOICES.has(type) || isBuiltInTool(type) || SEARCH_TOOL.test(String(type));
}

/** Returns the maximum number of searches; undefined when the tool is not offered. */
function readWebSearch({ tools, max_tool_calls: most }: CompleteBody): WebSearch | undefined {
  const index = (tools ?? []).findIndex(({ type }) => SEARCH_TOOL.test(type));
  if (index === -1) return undefined;
  const bound = notOnSharedCapacity(`tools.${index}.type`, 'this model has no price for searches');
  return { most: searchesWithin(most), bound };
}
