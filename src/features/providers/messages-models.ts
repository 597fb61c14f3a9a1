import { InvalidRequestError } from '../../platform/errors/gateway-errors.js';
import type { ModelDto } from './providers.dto.js';

const DEFAULT_LIMIT = 20;
const MAX_LIMIT = 1_000;

/** A model in the messages dialect's shape. */
interface MessagesModel {
  readonly type: 'model';
  readonly id: string;
  readonly display_name: string;
  /** RFC 3339. */
  readonly created_at: string;
  readonly max_input_tokens: number | null;
  readonly max_tokens: number | null;
  readonly capabilities: null;
  readonly lifecycle: 'active';
  readonly deprecated_at: null;
  readonly retires_at: null;
  readonly line: null;
}

interface MessagesModelList {
  readonly data: readonly MessagesModel[];
  /** In the requested direction. */
  readonly has_more: boolean;
  readonly first_id: string | null;
  readonly last_id: string | null;
}

export function toMessagesModel({
  id,
  name,
  created,
  context_length,
  top_provider,
}: ModelDto): MessagesModel {
  return {
    type: 'model',
    id,
    display_name: name,
    created_at: new Date(created * 1_000).toISOString().replace('.000Z', 'Z'),
    max_input_tokens: context_length,
    max_tokens: top_provider.max_completion_tokens,
    capabilities: null,
    lifecycle: 'active',
    deprecated_at: null,
    retires_at: null,
    line: null,
  };
}

/**
 * Returns one page of models, newest first.
 * @param query `limit` (1 to 1,000, default 20), and `after_id` or `before_id`
 * @throws InvalidRequestError naming the invalid parameter
 */
export function listMessagesModels(
  models: readonly ModelDto[],
  query: Readonly<Record<string, unknown>>,
): MessagesModelList {
  const limit = readLimit(query.limit);
  const { after_id: after, before_id: before } = query;
  if (after !== undefined && before !== undefined) {
    throw new InvalidRequestError('before_id', 'Send `after_id` or `before_id`, not both.');
  }
  const sorted = [...models].sort((one, other) => other.created - one.created);
  const end = before === undefined ? undefined : indexOf(sorted, 'before_id', before);
  const start =
    end !== undefined
      ? Math.max(0, end - limit)
      : after === undefined
        ? 0
        : indexOf(sorted, 'after_id', after) + 1;
  const data = sorted.slice(start, end ?? start + limit).map(toMessagesModel);
  return {
    data,
    has_more: end === undefined ? start + limit < sorted.length : start > 0,
    first_id: data[0]?.id ?? null,
    last_id: data.at(-1)?.id ?? null,
  };
}

function readLimit(given: unknown): number {
  if (given === undefined) return DEFAULT_LIMIT;
  const limit = typeof given === 'string' && /^\d{1,4}$/.test(given) ? Number(given) : 0;
  if (limit >= 1 && limit <= MAX_LIMIT) return limit;
  throw new InvalidRequestError('limit', `\`limit\` must be an integer from 1 to ${MAX_LIMIT}.`);
}

function indexOf(models: readonly ModelDto[], param: string, id: unknown): number {
  const index = models.findIndex((model) => model.id === id);
  if (index !== -1) return index;
  throw new InvalidRequestError(param, `\`${param}\` must be the id of one of these models.`);
}
