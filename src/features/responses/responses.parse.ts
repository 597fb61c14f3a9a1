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

/** The vendor's tool that has a price for each use. */
const SEARCH_TOOL = /^web_search(?:_preview)?(?:_\d{4}_\d{2}_\d{2})?$/;

/** Forms of `tool_choice` that name no tool of the vendor's. */
const OWN_CHOICES: ReadonlySet<unknown> = new Set(['function', 'custom', 'allowed_tools']);

/** Tools that a call or a choice could not name without their name. */
const NAMED_TOOLS: ReadonlySet<unknown> = new Set(['function', 'custom', 'namespace']);

const validate = compileSchema(createResponseSchema);

/** Members beside the items that the model reads as well. */
const PROMPT_MEMBERS = new Set(['instructions', 'text', 'response_format']);
const TOOL_MEMBER = 'tools';

/**
 * Checks the body's shape, and that there is an input.
 *
 * @throws InvalidRequestError naming the first field at fault
 */
export function checkResponsesBody(body: JsonBody): asserts body is JsonBody<ResponsesBody> {
  assertValidBody(validate, body);
  const { input, tools } = body.value;
  if (input == null) {
    throw new InvalidRequestError(
      'input',
      'The parameter `input` is missing: send text, or an array of items.',
    );
  }
  if (Array.isArray(input) && input.length === 0) {
    throw new InvalidRequestError('input', '`input` must hold at least one item.');
  }
  for (const [index, tool] of (tools ?? []).entries()) {
    if (!NAMED_TOOLS.has(tool.type) || tool.name !== undefined) continue;
    throw new InvalidRequestError(`tools.${index}.name`, `\`tools.${index}.name\` is required.`);
  }
}

export interface ParseOptions {
  /** The id that the answer will have. */
  answerId: string;
  /** The turns that this one follows. */
  conversation: Conversation | undefined;
  /** The items of the body's own input, of which some may have been looked up. */
  ownItems: readonly JsonObject[];
}

/**
 * Reads a body that has been checked into the canonical form.
 *
 * @throws InvalidRequestError naming the first field at fault
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
  // Schemas are prompt text as well; their length in bytes stands for their characters.
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

/** Top-level fields that cost what the catalogue has no price for, or name things of the vendor account. */
function findAccountBoundField(value: CompleteBody): AccountBoundParam | undefined {
  if (value.prompt != null)
    return notOnSharedCapacity('prompt', 'it names a thing in a vendor account');
  const tools = value.tools ?? [];
  const foreign = tools.findIndex((tool) => !isClientTool(tool) && !SEARCH_TOOL.test(tool.type));
  if (foreign !== -1) {
    return notOnSharedCapacity(
      `tools.${foreign}.type`,
      'tools that the vendor runs are billed apart',
    );
  }
  const choice = value.tool_choice;
  if (isJsonObject(choice) && !isOwnChoice(choice)) {
    return notOnSharedCapacity('tool_choice.type', 'tools that the vendor runs are billed apart');
  }
  // Last, as some routes may take it; none takes the others.
  return findBilledServiceTier(value);
}

function isOwnChoice({ type }: JsonObject): boolean {
  return OWN_CHOICES.has(type) || isBuiltInTool(type) || SEARCH_TOOL.test(String(type));
}

/** The searches that the vendor may run; undefined where it is not offered the tool. */
function readWebSearch({ tools, max_tool_calls: most }: CompleteBody): WebSearch | undefined {
  const index = (tools ?? []).findIndex(({ type }) => SEARCH_TOOL.test(type));
  if (index === -1) return undefined;
  const bound = notOnSharedCapacity(`tools.${index}.type`, 'searches have no price on this model');
  return { most: searchesWithin(most), bound };
}
