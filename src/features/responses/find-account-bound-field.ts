import { findBilledServiceTier, notOnSharedCapacity } from '../../canonical/routing-fields.js';
import type { AccountBoundParam } from '../../canonical/canonical-request.js';
import type { JsonObject } from '../../platform/http/json-body.js';

/** Tools that the caller runs; all others run at the vendor. */
const OWN_TOOLS: ReadonlySet<unknown> = new Set(['function', 'custom']);

/** Forms of `tool_choice` that name no tool of the vendor's. */
const OWN_CHOICES: ReadonlySet<unknown> = new Set(['function', 'custom', 'allowed_tools']);

/** Top-level fields that cost what the catalogue has no price for, or name things of the vendor account. */
export function findAccountBoundField(value: JsonObject): AccountBoundParam | undefined {
  if (value.background === true) {
    return notOnSharedCapacity(
      'background',
      'a vendor would keep the answer in an account that all share',
    );
  }
  if (value.conversation != null) {
    return notOnSharedCapacity(
      'conversation',
      'it names a thing in a vendor account; use `previous_response_id`',
    );
  }
  if (value.prompt != null)
    return notOnSharedCapacity('prompt', 'it names a thing in a vendor account');
  const tier = findBilledServiceTier(value);
  if (tier) return tier;
  const tools = (value.tools ?? []) as JsonObject[];
  const foreign = tools.findIndex(({ type }) => !OWN_TOOLS.has(type));
  if (foreign !== -1) {
    return notOnSharedCapacity(
      `tools.${foreign}.type`,
      'tools that the vendor runs are billed apart',
    );
  }
  const choice = value.tool_choice;
  if (typeof choice === 'object' && choice !== null) {
    if (!OWN_CHOICES.has((choice as JsonObject).type)) {
      return notOnSharedCapacity('tool_choice.type', 'tools that the vendor runs are billed apart');
    }
  }
  return undefined;
}
