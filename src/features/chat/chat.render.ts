import type {
  CanonicalEvent,
  FinishEvent,
  ReasoningEvent,
  SettledEvent,
  ToolCallEvent,
} from '../../canonical/canonical-event.js';
import type { CollectedAnswer, CollectedChoice } from '../../canonical/collect.js';
import { isChargedAsGiven, type Usage } from '../../canonical/usage.js';
import { errorBody } from '../../platform/errors/error-response.js';
import type { GatewayError } from '../../platform/errors/gateway-errors.js';
import { isJsonObject } from '../../platform/http/json-body.js';
import { topLevelMembers, spliceMembers } from '../../platform/http/top-level-members.js';
import type { StreamRenderer } from '../../core/answers/deliver.js';

export interface ChatRenderOptions {
  requestId: string;
  /** Unix seconds. */
  created: number;
  /** The requested model, until a route has answered. */
  model?: string;
  /** Sends a final usage chunk. */
  includeUsage: boolean;
}

/** Start of every chunk. */
const BEGINNING = 'data: {';

/** Signed reasoning and tool calls of a choice, sent at the end. */
interface SignedDetails {
  reasoning: object[];
  calls: object[];
}

/** Renders an answer as chat completion chunks. */
export class ChatStreamRenderer implements StreamRenderer {
  private id: string;
  private model: string;
  /** Common start of all chunks, cached; undefined when it has to be rebuilt. */
  private head: string | undefined;
  private usageWasRelayed = false;
  private readonly startedChoices = new Set<number>();
  private readonly openReasoning = new Map<number, string>();
  private readonly details = new Map<number, SignedDetails>();

  constructor(private readonly options: ChatRenderOptions) {
    this.id = completionId(options.requestId);
    this.model = options.model ?? '';
  }

  render(event: CanonicalEvent): Buffer | string | undefined {
    switch (event.type) {
      case 'route':
        this.model = event.route.model;
        this.head = undefined;
        return undefined;
      case 'start':
        this.id = event.id ?? this.id;
        this.head = undefined;
        return undefined;
      case 'relay':
        this.usageWasRelayed ||= event.usage !== undefined;
        return event.bytes;
      case 'text':
        return this.delta(event.choice, `"content":${JSON.stringify(event.text)}`, {
          logprobs: event.logprobs,
        });
      case 'reasoning':
        return this.reasoning(event);
      case 'refusal':
        return this.delta(event.choice, `"refusal":${JSON.stringify(event.text)}`);
      case 'tool_call':
        return this.toolCall(event);
      case 'tool_arguments': {
        const text = JSON.stringify(event.text);
        const call = `{"index":${event.index},"function":{"arguments":${text}}}`;
        return this.delta(event.choice, `"tool_calls":[${call}]`);
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
    const failure = membersOf(errorBody(error));
    // First in its chunk, since some clients look for it only there.
    return this.chunk(membersOf({ choices })).replace(BEGINNING, () => `${BEGINNING}${failure},`);
  }

  private toolCall({ choice, index, id, name, signature }: ToolCallEvent): string {
    const call = { index, id, type: 'function', function: { name, arguments: '' } };
    if (signature !== undefined) this.detailsOf(choice).calls.push(toCallDetail(id, signature));
    return this.delta(choice, `"tool_calls":[${JSON.stringify(call)}]`);
  }

  private reasoning({ choice, text, signature }: ReasoningEvent): string | undefined {
    const block = (this.openReasoning.get(choice) ?? '') + text;
    this.openReasoning.set(choice, signature === undefined ? block : '');
    if (signature !== undefined) {
      this.detailsOf(choice).reasoning.push(toReasoningDetail({ text: block, signature }));
    }
    return text === ''
      ? undefined
      : this.delta(choice, `"reasoning_content":${JSON.stringify(text)}`);
  }

  /**
   * Repeats signed blocks in full, in the form in which callers send them back. All in one chunk,
   * since clients keep only the last value of unknown fields.
   */
  private finish({ choice, reason }: FinishEvent): string {
    const { reasoning, calls } = this.detailsOf(choice);
    const details = [...reasoning, ...calls];
    const members = details.length > 0 ? `"reasoning_details":${JSON.stringify(details)}` : '';
    return this.delta(choice, members, { finishReason: reason });
  }

  private detailsOf(choice: number): SignedDetails {
    const known = this.details.get(choice);
    if (known) return known;
    const details: SignedDetails = { reasoning: [], calls: [] };
    this.details.set(choice, details);
    return details;
  }

  private usage({ usage }: SettledEvent): string | undefined {
    if (!this.options.includeUsage || this.usageWasRelayed) return undefined;
    return this.chunk(membersOf({ choices: [], usage: chatUsage(usage) }));
  }

  /** @param members of the delta, as JSON */
  private delta(
    index: number,
    members: string,
    { finishReason, logprobs }: { finishReason?: string; logprobs?: unknown } = {},
  ): string {
    const delta = this.startedChoices.has(index) ? members : this.opening(index, members);
    const logprobsJson = logprobs == null ? 'null' : JSON.stringify(logprobs);
    const finishJson = finishReason === undefined ? 'null' : JSON.stringify(finishReason);
    return this.chunk(
      `"choices":[{"index":${index},"delta":{${delta}},"logprobs":${logprobsJson},` +
        `"finish_reason":${finishJson}}]`,
    );
  }

  /** The first delta of a choice contains the role, and content even if empty. */
  private opening(index: number, members: string): string {
    this.startedChoices.add(index);
    const role = '"role":"assistant"';
    if (members.startsWith('"content":')) return `${role},${members}`;
    return members === '' ? `${role},"content":null` : `${role},"content":null,${members}`;
  }

  /** @param members specific to this chunk, as JSON */
  private chunk(members: string): string {
    this.head ??= `${BEGINNING}${JSON.stringify({
      id: this.id,
      object: 'chat.completion.chunk',
      created: this.options.created,
      model: this.model,
    }).slice(1, -1)},`;
    return `${this.head}${members}}\n\n`;
  }
}

/** Renders a whole answer as a chat completion. */
export function renderChatCompletion(answer: CollectedAnswer, options: ChatRenderOptions): Buffer {
  const usage = chatUsage(answer.settled.usage);
  if (answer.relay) {
    const { bytes, usage: relayedUsage } = answer.relay;
    if (isChargedAsGiven(relayedUsage, answer.settled.usage)) return bytes;
    // The vendor sent no plausible usage, so show the charged usage.
    const edits = new Map([['usage', JSON.stringify(usage)]]);
    return spliceMembers(bytes, topLevelMembers(bytes), edits);
  }
  return Buffer.from(
    JSON.stringify({
      id: completionId(options.requestId),
      object: 'chat.completion',
      created: options.created,
      model: answer.route.model,
      choices: answer.choices.map(renderChoice),
      usage,
      // Some clients require it, even as null.
      system_fingerprint: null,
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
    ...choice.reasoning.filter(({ signature }) => signature !== undefined).map(toReasoningDetail),
    ...choice.toolCalls.flatMap(({ id, signature }) =>
      signature === undefined ? [] : [toCallDetail(id, signature)],
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

/** A reasoning block with its signature, to be sent back with the next turn. */
function toReasoningDetail({ text, signature }: { text: string; signature?: string }): object {
  if (text === '') return { type: 'reasoning.encrypted', data: signature };
  return { type: 'reasoning.text', text, signature };
}

/** A tool call's signature, identified by the call id. */
function toCallDetail(id: string, signature: string): object {
  return { type: 'reasoning.encrypted', id, data: signature };
}

/** Returns an object's JSON without braces. */
function membersOf(value: object): string {
  return JSON.stringify(value).slice(1, -1);
}

function mergeLogprobs(pieces: unknown[]): object {
  const contents = pieces.map((piece) => (isJsonObject(piece) ? piece.content : undefined));
  return { content: contents.filter(Array.isArray).flat() };
}

/** Converts usage to this dialect. Cached and reasoning tokens are included in the totals. */
export function chatUsage(usage: Usage): object {
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
