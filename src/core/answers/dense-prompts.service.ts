import { Injectable } from '@nestjs/common';
import { countCodePoints } from '../../canonical/prompt-size.js';
import {
  isTextRequest,
  type EmbeddingRequest,
  type RoutableRequest,
  type WorkRequest,
} from '../../canonical/work-request.js';
import { promptTexts } from '../guardrails/prompt-texts.js';
import { LARGEST_VOCABULARY_FACTOR, TokenCounter } from '../ledger/token-counter.js';

const isEmbedding = (request: WorkRequest): request is EmbeddingRequest =>
  request.kind === 'embedding';

/**
 * Counts the tokens of prompts whose price is quoted before they are sent. The usual bound is a
 * third of the characters, but base64 takes twice that: a hold may then be too small and the excess
 * is charged, but never above the quoted price.
 */
@Injectable()
export class DensePrompts {
  constructor(private readonly tokens: TokenCounter) {}

  /**
   * Returns the request with the largest prompt size that vendors may count. Falls back to a token
   * per character when counting is too slow.
   */
  async counted<Request extends RoutableRequest>(
    tenantId: string,
    request: Request,
  ): Promise<Request> {
    const planned: RoutableRequest = request;
    if (isTextRequest(planned)) {
      const { promptSize } = planned;
      const tokens = await this.count(tenantId, promptTexts(planned));
      return tokens > promptSize.tokens
        ? { ...request, promptSize: { ...promptSize, tokens } }
        : request;
    }
    if (!isEmbedding(planned) || planned.input.type !== 'texts') return request;
    const { ceiling, input } = planned;
    const inputTokens = await this.count(tenantId, input.texts);
    return inputTokens > ceiling.inputTokens
      ? { ...request, ceiling: { ...ceiling, inputTokens } }
      : request;
  }

  private async count(tenantId: string, texts: readonly string[]): Promise<number> {
    const count = await this.tokens.count(tenantId, texts);
    return count === undefined
      ? texts.reduce((sum, text) => sum + countCodePoints(text), 0)
      : Math.ceil(count * LARGEST_VOCABULARY_FACTOR);
  }
}
