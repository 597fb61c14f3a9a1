import type {
  CanonicalEvent,
  FinishEvent,
  ReasoningEvent,
  SettledEvent,
} from '../canonical/canonical-event.js';
import type { CollectedAnswer, CollectedChoice } from '../canonical/collect.js';
import type { Usage } from '../canonical/usage.js';
import { errorBody } from '../common/errors/error-body.js';
import type { GatewayError } from '../common/errors/gateway-errors.js';
import { scanTopLevelMembers, spliceMembers } from '../common/http/top-level-members.js';
import type { StreamRenderer } from '../delivery/deliver-stream.js';

export interface ChatRenderOptions {
  requestId: string;
  /** Unix seconds. */
  created: number;
  /** Whether one last chunk with the usage is wanted. */
  includeUsage: boolean;
}

/** What of a choice is sealed, as it is shown at the end. */
interface SealedDetails {
  reasoning: object[];
  calls: object[];
}

/** Spells an answer as chat completion chunks. */
export class ChatStreamRenderer implements StreamRenderer {
  private id: string;
  private model = '';
  private usageWasRelayed = false;
  private readonly begunChoices = new Set<number>();
  private readonly openReasoning = new Map<number, string>();
  private readonly details = new Map<number, SealedDetails>();

  constructor(private readonly options: ChatRenderOptions) {
    this.id = completionId(options.requestId);
  }

  render(event: CanonicalEvent): Buffer | string | undefined {
    switch (event.type) {
      case 'route':
        this.model = event.route.model;
        return undefined;
      case 'start':
        this.id = event.id ?? this.id;
        return undefined;
      case 'relay':
        this.usageWasRelayed ||= event.usage !== undefined;
        return event.bytes;
      case 'text':
        return this.delta(event.choice, { content: event.text }, null, event.logprobs);
      case 'reasoning':
        return this.reasoning(event);
      case 'refusal':
        return this.delta(event.choice, { refusal: event.text });
      case 'tool_call': {
        const definition = { name: event.name, arguments: '' };
        const call = { index: event.index, id: event.id, type: 'function', function: definition };
        if (event.seal !== undefined) {
          this.detailsOf(event.choice).calls.push(toCallDetail(event.id, event.seal));
        }
        return this.delta(event.choice, { tool_calls: [call] });
      }
      case 'tool_arguments': {
        const call = { index: event.index, function: { arguments: event.text } };
        return this.delta(event.choice, { tool_calls: [call] });
      }
      case 'finish':
        return this.finish(event);
      case 'usage':
        return undefined;
      case 'settled':
        return this.usage(event);
    }
  }

  end(): string {
    return 'data: [DONE]\n\n';
  }

  error(error: GatewayError): string {
    const choices = [{ index: 0, delta: {}, finish_reason: 'error' }];
    return this.chunk({ choices, ...errorBody(error) });
  }

  private reasoning({ choice, text, seal }: ReasoningEvent): string | undefined {
    const block = (this.openReasoning.get(choice) ?? '') + text;
    this.openReasoning.set(choice, seal === undefined ? block : '');
    if (seal !== undefined) {
      this.detailsOf(choice).reasoning.push(toReasoningDetail({ text: block, seal }));
    }
    return text === '' ? undefined : this.delta(choice, { reasoning_content: text });
  }

  /**
   * Sealed blocks come once more as a whole, the form in which they are to be sent back. They come
   * all at once, as clients keep only the last value of a field that they do not know.
   */
  private finish({ choice, reason }: FinishEvent): string {
    const { reasoning, calls } = this.detailsOf(choice);
    const details = [...reasoning, ...calls];
    return this.delta(choice, details.length > 0 ? { reasoning_details: details } : {}, reason);
  }

  private detailsOf(choice: number): SealedDetails {
    const known = this.details.get(choice);
    if (known) return known;
    const details: SealedDetails = { reasoning: [], calls: [] };
    this.details.set(choice, details);
    return details;
  }

  private usage({ usage }: SettledEvent): string | undefined {
    if (!this.options.includeUsage || this.usageWasRelayed) return undefined;
    return this.chunk({ choices: [], usage: chatUsage(usage) });
  }

  private delta(
    index: number,
    delta: object,
    finishReason: string | null = null,
    logprobs: unknown = null,
  ): string {
    let opening = {};
    if (!this.begunChoices.has(index)) {
      this.begunChoices.add(index);
      opening = { role: 'assistant', ...('content' in delta ? {} : { content: null }) };
    }
    const choice = {
      index,
      delta: { ...opening, ...delta },
      logprobs,
      finish_reason: finishReason,
    };
    return this.chunk({ choices: [choice] });
  }

  private chunk(rest: object): string {
    const chunk = {
      id: this.id,
      object: 'chat.completion.chunk',
      created: this.options.created,
      model: this.model,
      ...rest,
    };
    return `data: ${JSON.stringify(chunk)}\n\n`;
  }
}

/** Spells a whole answer as a chat completion. */
export function renderChatCompletion(answer: CollectedAnswer, options: ChatRenderOptions): Buffer {
  const usage = chatUsage(answer.settled.usage);
  if (answer.relay) {
    const { bytes, usage: relayedUsage } = answer.relay;
    if (relayedUsage) return bytes;
    // The vendor gave no usage: what is charged is shown in its place.
    const edits = new Map([['usage', JSON.stringify(usage)]]);
    return spliceMembers(bytes, scanTopLevelMembers(bytes).members, edits);
  }
  return Buffer.from(
    JSON.stringify({
      id: completionId(options.requestId),
      object: 'chat.completion',
      created: options.created,
      model: answer.route.model,
      choices: answer.choices.map(renderChoice),
      usage,
    }),
  );
}

function renderChoice(choice: CollectedChoice, index: number): object {
  const toolCalls = choice.toolCalls.map(({ id, name, arguments: args }) => ({
    id,
    type: 'function',
    function: { name, arguments: args },
  }));
  const details = [
    ...choice.reasoning.filter(({ seal }) => seal !== undefined).map(toReasoningDetail),
    ...choice.toolCalls.flatMap(({ id, seal }) =>
      seal === undefined ? [] : [toCallDetail(id, seal)],
    ),
  ];
  const reasoning = choice.reasoning.map(({ text }) => text).join('');
  const hasInstead = toolCalls.length > 0 || choice.refusal !== '';
  return {
    index,
    message: {
      role: 'assistant',
      content: choice.text === '' && hasInstead ? null : choice.text,
      refusal: choice.refusal || null,
      ...(reasoning !== '' && { reasoning_content: reasoning }),
      ...(details.length > 0 && { reasoning_details: details }),
      ...(toolCalls.length > 0 && { tool_calls: toolCalls }),
    },
    logprobs: choice.logprobs.length > 0 ? mergeLogprobs(choice.logprobs) : null,
    finish_reason: choice.finishReason ?? null,
  };
}

/** A block of reasoning with its seal, to be sent back with the next turn. */
function toReasoningDetail({ text, seal }: { text: string; seal?: string }): object {
  if (text === '') return { type: 'reasoning.encrypted', data: seal };
  return { type: 'reasoning.text', text, signature: seal };
}

/** The seal of one tool call, found again by the call's id. */
function toCallDetail(id: string, seal: string): object {
  return { type: 'reasoning.encrypted', id, data: seal };
}

function mergeLogprobs(pieces: unknown[]): object {
  return { content: pieces.flatMap((piece) => (piece as { content?: unknown[] }).content ?? []) };
}

function chatUsage(usage: Usage): object {
  return {
    prompt_tokens: usage.inputTokens,
    completion_tokens: usage.outputTokens,
    total_tokens: usage.inputTokens + usage.outputTokens,
    prompt_tokens_details: { cached_tokens: usage.cacheReadTokens },
    completion_tokens_details: { reasoning_tokens: usage.reasoningTokens },
  };
}

function completionId(requestId: string): string {
  return `chatcmpl-${requestId.replaceAll('-', '')}`;
}
