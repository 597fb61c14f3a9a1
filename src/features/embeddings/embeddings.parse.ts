import {
  notOnSharedCapacity,
  readModelChain,
  readRoutingPreferences,
} from '../../canonical/routing-fields.js';
import type { EmbeddingInput, EmbeddingRequest } from '../../canonical/work-request.js';
import { PromptMeter, estimateTokens } from '../../canonical/prompt-size.js';
import { NO_USAGE } from '../../canonical/usage.js';
import { InvalidRequestError } from '../../platform/errors/gateway-errors.js';
import type { JsonBody } from '../../platform/http/json-body.js';
import { assertValid, compileSchema } from '../../platform/http/validate-body.js';
import { createEmbeddingsSchema } from './create-embeddings.schema.js';
import { readEmbeddingInput } from './read-embedding-input.js';

const validate = compileSchema(createEmbeddingsSchema);

/** A body that the schema has let pass. */
interface EmbeddingsBody {
  input: string | unknown[];
  encoding_format?: 'float' | 'base64' | null;
  dimensions?: number | null;
  user?: string | null;
  service_tier?: unknown;
}

/**
 * Reads an embeddings body.
 *
 * @throws InvalidRequestError naming the first field at fault
 */
export function parseEmbeddings(body: JsonBody): EmbeddingRequest {
  assertValid(validate, body.value);
  const fields = body.value as unknown as EmbeddingsBody;
  const models = readModelChain(body.value);
  if (models.length > 1) {
    throw new InvalidRequestError(
      'models',
      'Vectors of different models do not compare, so an embedding has no fallback models; name one. Providers of the same model still stand in for each other.',
    );
  }
  const input = readEmbeddingInput(fields.input);
  const { ceiling, estimate } = measure(input);
  return {
    kind: 'embedding',
    body,
    models,
    routing: readRoutingPreferences(body.value),
    stream: false,
    accountBoundParam:
      fields.service_tier == null
        ? undefined
        : notOnSharedCapacity('service_tier', 'service tiers are billed at other prices'),
    ceiling: { ...NO_USAGE, inputTokens: ceiling },
    estimate: { ...NO_USAGE, inputTokens: estimate },
    items: (input.type === 'texts' ? input.texts : input.tokens).length,
    input,
    encoding: fields.encoding_format ?? 'float',
    dimensions: fields.dimensions ?? undefined,
    endUser: fields.user ?? undefined,
  };
}

/** Tokens: the most that there can be, and what stands for them where a vendor does not count. */
function measure(input: EmbeddingInput): { ceiling: number; estimate: number } {
  if (input.type === 'tokens') {
    const tokens = input.tokens.reduce((sum, item) => sum + item.length, 0);
    return { ceiling: tokens, estimate: tokens };
  }
  let ceiling = 0;
  let characters = 0;
  for (const text of input.texts) {
    // Each item by itself: two short ones do not share a token.
    const meter = new PromptMeter();
    meter.addText(text);
    const size = meter.size();
    ceiling += size.tokens;
    characters += size.characters;
  }
  return { ceiling, estimate: estimateTokens(characters) };
}
