import { Injectable } from '@nestjs/common';
import type { CanonicalEvent } from '../../canonical/canonical-event.js';
import type {
  CanonicalMessage,
  CanonicalPrompt,
  CanonicalRequest,
} from '../../canonical/canonical-request.js';
import { estimateTokens, promptTokensOf, countCodePoints } from '../../canonical/prompt-size.js';
import { AnswersService } from '../../core/answers/answers.service.js';
import type { Call } from '../../core/answers/call.js';
import { asWhole, type Reply } from '../../core/answers/deliver.js';
import { TokenCounter } from '../../core/ledger/token-counter.js';
import { InvalidRequestError, ProviderError } from '../../platform/errors/gateway-errors.js';
import { parseJsonBody, type JsonBody, type JsonObject } from '../../platform/http/json-body.js';
import { readJsonBody } from '../../platform/http/read-json-body.js';
import { assertValidBody, compileSchema } from '../../platform/http/validate-body.js';
import { CompactionsService, askForSummary } from './compactions.service.js';
import { compactSchema } from './create-response.schema.js';
import { newResponseId } from './item-id.js';
import { withItemIds } from './list-input-items.js';
import { ResponseAnswer } from './response-answer.js';
import { outputText, usageFields } from './response-object.js';
import { checkResponsesBody, parseResponses } from './responses.parse.js';
import { foldResponse } from './responses.service.js';
import { ConversationContextService } from './conversation-context.service.js';

/** Longer prompts are extrapolated from this prefix, since counting occupies a thread. */
const MAX_COUNTED_CHARACTERS = 100_000;
/** Tokens per message for framing in this vocabulary. */
const TOKENS_PER_MESSAGE = 3;

const validateCompact = compileSchema(compactSchema);

/** Token counting and compaction of conversations. */
@Injectable()
export class ConversationToolsService {
  constructor(
    private readonly answers: AnswersService,
    private readonly context: ConversationContextService,
    private readonly compactions: CompactionsService,
    private readonly tokens: TokenCounter,
  ) {}

  /**
   * Counts the input tokens with the first route's vendor, or a public vocabulary. Free and not
   * logged.
   * @throws GatewayError when the request is rejected
   */
  async countTokens(call: Call): Promise<{ provider: string | undefined; body: object }> {
    const body = await readJsonBody(call.body);
    checkResponsesBody(body);
    const loaded = await this.context.load(call, body.value);
    const parsed = parseResponses(body, { answerId: newResponseId(), ...loaded });
    const counted = await this.answers.countTokens(call, { ...parsed, stream: false });
    const tokens = counted?.tokens ?? (await this.countHere(call.caller.tenantId, parsed));
    return {
      provider: counted?.provider,
      body: { object: 'response.input_tokens', input_tokens: tokens },
    };
  }

  /** Summarizes a conversation. @throws GatewayError when the request is rejected */
  async compact(call: Call): Promise<Reply<CanonicalEvent>> {
    const { tenantId } = call.caller;
    const received = await readJsonBody(call.body);
    assertValidBody(validateCompact, received);
    const { conversation, ownItems } = await this.context.load(call, received.value);
    const items = [...(conversation?.items ?? []), ...ownItems];
    if (items.length === 0) {
      throw new InvalidRequestError(
        'input',
        'There is nothing to compact. Send `input` or `previous_response_id`.',
      );
    }
    const answerId = newResponseId();
    const body = askBody(askForSummary(received.value, items));
    const parsed = parseResponses(body, {
      answerId,
      conversation: undefined,
      ownItems: [{ type: 'message', role: 'user', content: body.value.input }],
    });
    const request = { ...parsed, answerId };
    const createdAt = Math.floor(call.receivedAt.getTime() / 1000);
    const response = new ResponseAnswer({ request, createdAt });
    const answer = await this.answers.generate(call, 'responses', request);
    const send = asWhole(
      async (events: AsyncIterable<CanonicalEvent>) => {
        const folded = await foldResponse(response, events);
        if (summaryOf(response) === '') {
          throw new ProviderError(
            'The model returned no summary. Try again, or use another model.',
          );
        }
        return folded;
      },
      ({ settled }) => ({
        id: answerId,
        object: 'response.compaction',
        created_at: createdAt,
        output: [
          ...usersOf(answerId, items),
          this.compactions.encrypt(tenantId, summaryOf(response)),
        ],
        usage: usageFields(settled.usage),
      }),
    );
    return { answer, send };
  }

  private async countHere(tenantId: string, request: CanonicalRequest): Promise<number> {
    const prompt = request.prompt();
    const { characters, images, pages, audioSeconds } = request.promptSize;
    const texts = textsOf(prompt);
    const sample = sampleOf(texts);
    const sampled = sample.reduce((sum, text) => sum + countCodePoints(text), 0);
    const all = texts.reduce((sum, text) => sum + countCodePoints(text), 0);
    const counted = await this.tokens.count(tenantId, sample);
    const inText =
      counted === undefined
        ? estimateTokens(characters)
        : Math.ceil((counted * all) / Math.max(1, sampled));
    const media = promptTokensOf({ tokens: 0, characters: 0, images, pages, audioSeconds });
    return inText + prompt.messages.length * TOKENS_PER_MESSAGE + media;
  }
}

/** Returns all text that the model reads. */
function textsOf({ messages, tools, responseFormat }: CanonicalPrompt): string[] {
  const texts = messages.flatMap(({ parts }) => parts.flatMap(textsOfPart));
  for (const { name, description = '', parameters } of tools) {
    texts.push(name, description, JSON.stringify(parameters ?? {}));
  }
  if (responseFormat?.type === 'json_schema') texts.push(JSON.stringify(responseFormat.schema));
  return texts;
}

function textsOfPart(part: CanonicalMessage['parts'][number]): string[] {
  switch (part.type) {
    case 'text':
    case 'refusal':
    case 'reasoning':
      return [part.text];
    case 'tool_call':
      return [part.name, part.arguments];
    case 'tool_result':
      return part.parts.flatMap(textsOfPart);
    case 'image':
    case 'document':
    case 'audio':
      return [];
  }
}

function sampleOf(texts: readonly string[]): string[] {
  let left = MAX_COUNTED_CHARACTERS;
  const sample: string[] = [];
  for (const text of texts) {
    if (left <= 0) break;
    sample.push(text.slice(0, left));
    left -= text.length;
  }
  return sample;
}

function askBody(value: JsonObject): JsonBody<JsonObject & { input: string }> {
  const body: JsonBody = parseJsonBody(Buffer.from(JSON.stringify(value)), { maxParts: Infinity });
  checkResponsesBody(body);
  const { input } = body.value;
  if (typeof input !== 'string') throw new Error('the request for a summary has no text');
  return { bytes: body.bytes, members: body.members, value: { ...body.value, input } };
}

function summaryOf({ relay, status, output }: ResponseAnswer): string {
  const answer = relay?.answer;
  return (
    (answer ? outputText(answer.status, answer.output) : outputText(status, output.items)) ?? ''
  );
}

/** Returns the user's messages as they appear in a compacted conversation. */
function usersOf(answerId: string, items: readonly JsonObject[]): JsonObject[] {
  const isUsers = ({ type = 'message', role }: JsonObject): boolean =>
    type === 'message' && role === 'user';
  return withItemIds(answerId, items.filter(isUsers)).map((item) => ({
    ...item,
    status: 'completed',
  }));
}
