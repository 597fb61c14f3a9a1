import type { IncomingHttpHeaders } from 'node:http';
import {
  searchesWithin,
  type AccountBoundParam,
  type VendorHeaders,
  type WebSearch,
} from '../../canonical/canonical-request.js';
import { notOnSharedCapacity } from '../../canonical/routing-fields.js';
import { InvalidRequestError } from '../../platform/errors/gateway-errors.js';
import { isJsonObject, type JsonObject } from '../../platform/http/json-body.js';
import type { MessageTool, PromptBody } from './messages.schema.js';
import {
  ACCOUNT_HEADERS,
  BETA_DATE,
  BETA_FIELD,
  BETA_HEADER,
  LONG_CONTEXT_BETA,
  PRICED_BETAS,
  UNPRICED_BETAS,
} from './messages.vendor.js';

/**
 * Classifies the headers for this dialect's vendor; undefined when there are none. Includes the
 * betas of the body.
 */
export function readVendorHeaders(
  headers: IncomingHttpHeaders,
  body: JsonObject,
): VendorHeaders | undefined {
  const betas = readBetas(headers, body);
  const own: Record<string, string> = {};
  if (betas.length > 0) own[BETA_HEADER] = betas.join(',');
  for (const name of ACCOUNT_HEADERS) {
    const value = headers[name];
    if (typeof value === 'string') own[name] = value;
  }
  if (Object.keys(own).length === 0) return undefined;
  const shared = betas.filter((beta) => PRICED_BETAS.has(familyOf(beta)));
  const isLong = betas.some((beta) => familyOf(beta) === LONG_CONTEXT_BETA.family);
  return {
    own,
    shared: shared.length > 0 ? { [BETA_HEADER]: shared.join(',') } : {},
    dropped: betas.filter(isUnknownBeta).map((beta) => `${BETA_HEADER}.${beta}`),
    bound: findUnpricedBeta(betas),
    longContext: isLong ? { ...LONG_CONTEXT_REFUSAL, tokens: LONG_CONTEXT_BETA.tokens } : undefined,
  };
}

const LONG_CONTEXT_REFUSAL = notOnSharedCapacity(
  BETA_HEADER,
  `\`${LONG_CONTEXT_BETA.family}\` allows prompts for which this model has no price`,
);

/** Characters that a body may contain but a header cannot. */
const INVALID_IN_HEADER = /[^\x21-\x7e]/;

/** @throws InvalidRequestError for a name that is not a valid header value */
function readBetas(headers: IncomingHttpHeaders, { [BETA_FIELD]: listed }: JsonObject): string[] {
  const inBody: unknown[] = Array.isArray(listed) ? listed : [];
  const given = [...String(headers[BETA_HEADER] ?? '').split(','), ...inBody];
  const names = given.filter((name) => typeof name === 'string').map((name) => name.trim());
  if (names.some((name) => INVALID_IN_HEADER.test(name))) {
    throw new InvalidRequestError(
      BETA_FIELD,
      `\`${BETA_FIELD}\` must contain names of printable ASCII characters without spaces.`,
    );
  }
  return [...new Set(names.filter((name) => name !== ''))];
}

function familyOf(beta: string): string {
  return beta.replace(BETA_DATE, '');
}

function isUnknownBeta(beta: string): boolean {
  const family = familyOf(beta);
  if (family === LONG_CONTEXT_BETA.family) return false;
  return !PRICED_BETAS.has(family) && !UNPRICED_BETAS.has(family);
}

function findUnpricedBeta(betas: readonly string[]): AccountBoundParam | undefined {
  for (const beta of betas) {
    const reason = UNPRICED_BETAS.get(familyOf(beta));
    if (reason !== undefined) {
      return {
        param: BETA_HEADER,
        message: `\`${BETA_HEADER}: ${beta}\` is not available on shared capacity: ${reason}.`,
      };
    }
  }
  return undefined;
}

/** Finds a header that selects something in a vendor account, whichever route answers. */
export function findAccountHeader(headers: IncomingHttpHeaders): AccountBoundParam | undefined {
  const header = ACCOUNT_HEADERS.find((name) => headers[name] !== undefined);
  return header && notOnSharedCapacity(header, 'it selects something in a vendor account');
}

/** Fields that are rejected unless they are empty. */
const ACCOUNT_BOUND_FIELDS: readonly [field: string, reason: string][] = [
  ['container', 'it refers to a container in a vendor account'],
  ['mcp_servers', 'calls from the vendor to MCP servers are not supported'],
  ['fallbacks', 'other models have other prices; use `models`'],
  ['fallback_credit_token', 'it refers to an answer in a vendor account'],
  ['billing_policy', 'it changes how the vendor bills'],
  ['compaction', 'summaries by the vendor are billed separately'],
];

/** Fields with the only values that are allowed. */
const PRICED_VALUES: readonly [field: string, values: readonly string[], reason: string][] = [
  ['service_tier', ['auto', 'standard_only'], 'other service tiers have other prices'],
  ['speed', ['standard'], 'other speeds have other prices'],
];

/** Edits that only remove content. For others, the vendor generates text that it bills separately. */
const FREE_EDIT = /^clear_/;

/** Finds a field that refers to a vendor account or whose cost the catalogue cannot price. */
export function findAccountBoundField(value: PromptBody): AccountBoundParam | undefined {
  for (const [field, reason] of ACCOUNT_BOUND_FIELDS) {
    if (!isEmpty(value[field])) return notOnSharedCapacity(field, reason);
  }
  for (const [field, values, reason] of PRICED_VALUES) {
    const given = value[field];
    if (given != null && !values.some((priced) => priced === given)) {
      return notOnSharedCapacity(field, reason);
    }
  }
  if (isJsonObject(value.diagnostics) && value.diagnostics.previous_message_id != null) {
    const param = 'diagnostics.previous_message_id';
    return notOnSharedCapacity(param, 'it refers to an answer in a vendor account');
  }
  return (
    findBilledEdit(value.context_management) ??
    findBilledTool(value.tools ?? []) ??
    findBilledRegion(value)
  );
}

/** Finds a region, which only routes with a price for it accept. */
function findBilledRegion({ inference_geo: region }: PromptBody): AccountBoundParam | undefined {
  if (region == null || region === 'global') return undefined;
  return {
    ...notOnSharedCapacity('inference_geo', 'other regions have other prices'),
    ...(typeof region === 'string' && { priced: { region } }),
  };
}

function isEmpty(value: unknown): boolean {
  return value == null || (Array.isArray(value) && value.length === 0);
}

function findBilledEdit(management: unknown): AccountBoundParam | undefined {
  const edits: unknown = isJsonObject(management) ? management.edits : undefined;
  if (!Array.isArray(edits)) return undefined;
  const billed = edits.findIndex(
    (edit: unknown) => !isJsonObject(edit) || !FREE_EDIT.test(String(edit.type)),
  );
  if (billed === -1) return undefined;
  return notOnSharedCapacity(
    `context_management.edits.${billed}.type`,
    'text that the vendor generates for it is billed separately',
  );
}

/** Vendor-defined tools that cost only tokens; the caller runs most of them. */
const FREE_TOOL =
  /^(?:(?:bash|text_editor|computer|computer_toolset|browser_toolset|memory)_\d{8}|tool_search_tool_(?:regex|bm25)(?:_\d{8})?)$/;

/** A vendor-run tool with a price per use. */
const SEARCH_TOOL = /^web_search_\d{8}$/;

export function isCustomTool({ type }: MessageTool): boolean {
  return type == null || type === 'custom';
}

function findBilledTool(tools: readonly MessageTool[]): AccountBoundParam | undefined {
  const foreign = tools.findIndex((tool) => {
    const { type } = tool;
    return !isCustomTool(tool) && !FREE_TOOL.test(type ?? '') && !SEARCH_TOOL.test(type ?? '');
  });
  if (foreign === -1) return undefined;
  return notOnSharedCapacity(`tools.${foreign}.type`, 'vendor-run tools are billed separately');
}

/** Returns the searches that the vendor may run; undefined without the search tool. */
export function readWebSearch({ tools }: PromptBody): WebSearch | undefined {
  let most = 0;
  let first: number | undefined;
  for (const [index, { type, max_uses: uses }] of (tools ?? []).entries()) {
    if (!SEARCH_TOOL.test(type ?? '')) continue;
    first ??= index;
    most += searchesWithin(uses);
  }
  if (first === undefined) return undefined;
  const param = `tools.${first}.type`;
  return { most, bound: notOnSharedCapacity(param, 'this model has no price for searches') };
}
