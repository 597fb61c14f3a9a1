import type { CanonicalEvent, FinishReason } from '../../canonical/canonical-event.js';
import { estimateTokens } from '../../canonical/prompt-size.js';
import { NO_USAGE, type Usage, isChargedAsGiven } from '../../canonical/usage.js';
import type { GatewayError } from '../../platform/errors/gateway-errors.js';
import type { StreamRenderer } from '../../core/answers/deliver.js';
import { BlockSequence, toToolInput } from './block-sequence.js';
import { messagesErrorBody } from './messages-error-body.js';
import type { CollectedAnswer, CollectedChoice } from '../../canonical/collect.js';
import { topLevelMembers, spliceMembers } from '../../platform/http/top-level-members.js';
import {
  isRedactedThought,
  encodeCallSignature,
  encodeRedactedData,
  encodeSignature,
} from './message-signatures.js';
/** The dialect's stop reasons. Others are passed through. */
const STOP_REASONS = new Map<FinishReason, string>([
  ['stop', 'end_turn'],
  ['length', 'max_tokens'],
  ['tool_calls', 'tool_use'],
  ['content_filter', 'refusal'],
]);

interface MessagesRenderOptions {
  requestId: string;
  /** Code points of the prompt, for the first event when no vendor has counted tokens yet. */
  promptCharacters: number;
}

/** Renders an answer as message events. */
export class MessagesStreamRenderer implements StreamRenderer {
  private model = '';
  private usage: Usage;
  private isRelayed = false;
  private hasBegun = false;
  private finishReason: FinishReason | undefined;
  private stopSequence: string | undefined;
  private readonly blocks = new BlockSequence();

  constructor(private readonly options: MessagesRenderOptions) {
    const inputTokens = estimateTokens(options.promptCharacters);
    this.usage = { ...NO_USAGE, inputTokens };
  }

  render(event: CanonicalEvent): Buffer | string | undefined {
    switch (event.type) {
      case 'route':
        this.model = event.route.model;
        return undefined;
      case 'start':
        return undefined;
      case 'usage':
        this.usage = event.usage;
        return undefined;
      case 'relay':
        this.isRelayed = true;
        return event.bytes;
      case 'settled':
        return this.isRelayed ? undefined : this.begin() + this.messageDelta(event.usage);
      default:
        // This dialect has a single choice.
        return event.choice === 0 ? this.begin() + this.content(event) : undefined;
    }
  }

  end(): string {
    return 'event: message_stop\ndata: {"type":"message_stop"}\n\n';
  }

  error(error: GatewayError): string {
    return `event: error\ndata: ${JSON.stringify(messagesErrorBody(error))}\n\n`;
  }

  private content(event: Extract<CanonicalEvent, { choice: number }>): string {
    switch (event.type) {
      case 'text':
      case 'refusal':
        return event.text === '' ? '' : this.blocks.text(event.text);
      case 'reasoning':
        return this.blocks.reasoning(event.text, event.signature);
      case 'tool_call':
        return this.blocks.toolCall(event.index, event.id, event.name, event.signature);
      case 'tool_arguments':
        return this.blocks.toolArguments(event.index, event.text);
      case 'finish':
        this.finishReason = event.reason;
        this.stopSequence = event.stopSequence;
        return this.blocks.end();
    }
  }

  private begin(): string {
    if (this.hasBegun) return '';
    this.hasBegun = true;
    const message = {
      id: messageId(this.options.requestId),
      type: 'message',
      role: 'assistant',
      content: [],
      model: this.model,
      stop_reason: null,
      stop_sequence: null,
      usage: toMessagesUsage({ ...this.usage, outputTokens: 0, reasoningTokens: 0 }),
    };
    return `event: message_start\ndata: ${JSON.stringify({ type: 'message_start', message })}\n\n`;
  }

  /** Final usage, sent once it is charged. */
  private messageDelta(usage: Usage): string {
    const { finishReason, stopSequence } = this;
    const { callsTools } = this.blocks;
    const stopReason = toStopReason({ finishReason, stopSequence, callsTools });
    const delta = { stop_reason: stopReason, stop_sequence: stopSequence ?? null };
    const data = { type: 'message_delta', delta, usage: toMessagesUsage(usage) };
    return `${this.blocks.end()}event: message_delta\ndata: ${JSON.stringify(data)}\n\n`;
  }
}

interface AnswerEnd {
  finishReason: FinishReason | undefined;
  stopSequence: string | undefined;
  /** True when the answer calls a tool. */
  callsTools: boolean;
}

/**
 * Returns the stop reason. Some vendors report `stop` for tool calls; this dialect's clients run
 * tools only after `tool_use`.
 */
function toStopReason({ finishReason, stopSequence, callsTools }: AnswerEnd): string | null {
  if (finishReason === undefined) return null;
  if (finishReason === 'stop' && stopSequence !== undefined) return 'stop_sequence';
  if (finishReason === 'stop' && callsTools) return 'tool_use';
  return STOP_REASONS.get(finishReason) ?? finishReason;
}

/** Converts usage to this dialect, where `input_tokens` excludes cached tokens. */
function toMessagesUsage(usage: Usage): object {
  const { inputTokens, cacheReadTokens, cacheWriteTokens, cacheWriteLongTokens } = usage;
  return {
    input_tokens: Math.max(0, inputTokens - cacheReadTokens - cacheWriteTokens),
    cache_creation_input_tokens: cacheWriteTokens,
    cache_read_input_tokens: cacheReadTokens,
    output_tokens: usage.outputTokens,
    ...(cacheWriteTokens > 0 && {
      cache_creation: {
        ephemeral_5m_input_tokens: Math.max(0, cacheWriteTokens - cacheWriteLongTokens),
        ephemeral_1h_input_tokens: cacheWriteLongTokens,
      },
    }),
    ...(usage.reasoningTokens > 0 && {
      output_tokens_details: { thinking_tokens: usage.reasoningTokens },
    }),
    ...(usage.webSearches > 0 && {
      server_tool_use: { web_search_requests: usage.webSearches },
    }),
  };
}

/** Renders a whole answer as a message. */
export function renderMessage(answer: CollectedAnswer, requestId: string): Buffer {
  const usage = toMessagesUsage(answer.settled.usage);
  if (answer.relay) {
    const { bytes, usage: relayedUsage } = answer.relay;
    if (isChargedAsGiven(relayedUsage, answer.settled.usage)) return bytes;
    // The vendor sent no plausible usage, so show the charged usage.
    const edits = new Map([['usage', JSON.stringify(usage)]]);
    return spliceMembers(bytes, topLevelMembers(bytes), edits);
  }
  const [choice] = answer.choices;
  const { finishReason, stopSequence, toolCalls = [] } = choice ?? {};
  const stopReason = toStopReason({ finishReason, stopSequence, callsTools: toolCalls.length > 0 });
  const head = {
    id: messageId(requestId),
    type: 'message',
    role: 'assistant',
    model: answer.route.model,
    stop_reason: stopReason,
    stop_sequence: stopSequence ?? null,
    usage,
  };
  const content = choice ? renderContent(choice).join(',') : '';
  return Buffer.from(`${JSON.stringify(head).slice(0, -1)},"content":[${content}]}`);
}

/** Id of an answer that was not relayed. Relayed answers have their vendor's. */
function messageId(requestId: string): string {
  return `msg_${requestId.replaceAll('-', '')}`;
}

/** Returns the blocks as JSON. Tool inputs stay as the model wrote them. */
function renderContent({ reasoning, text, refusal, toolCalls }: CollectedChoice): string[] {
  const blocks = reasoning.flatMap(renderReasoning);
  for (const said of [text, refusal]) {
    if (said !== '') blocks.push(JSON.stringify({ type: 'text', text: said }));
  }
  // Vendors may skip a position among the calls.
  for (const { id, name, arguments: args, signature } of toolCalls.filter(Boolean)) {
    if (signature !== undefined) blocks.push(redactedThinking(encodeCallSignature(id, signature)));
    const head = JSON.stringify({ type: 'tool_use', id, name }).slice(0, -1);
    blocks.push(`${head},"input":${toToolInput(args)}}`);
  }
  return blocks;
}

function renderReasoning({ text, signature }: CollectedChoice['reasoning'][number]): string[] {
  if (text === '') {
    const data = signature === undefined ? undefined : encodeRedactedData(signature);
    if (data !== undefined) return [redactedThinking(data)];
  }
  if (signature === undefined) return [thinking(text, '')];
  if (!isRedactedThought(signature)) return [thinking(text, encodeSignature(signature))];
  return [thinking(text, ''), redactedThinking(encodeRedactedData(signature) ?? signature)];
}

function thinking(text: string, signature: string): string {
  return JSON.stringify({ type: 'thinking', thinking: text, signature });
}

function redactedThinking(data: string): string {
  return JSON.stringify({ type: 'redacted_thinking', data });
}
