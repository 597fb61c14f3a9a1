import type { CanonicalEvent, FinishReason } from '../../canonical/canonical-event.js';
import { estimateTokens } from '../../canonical/prompt-size.js';
import { NO_USAGE, type Usage } from '../../canonical/usage.js';
import type { GatewayError } from '../../platform/errors/gateway-errors.js';
import type { StreamRenderer } from '../../core/answers/deliver.js';
import { BlockSequence } from './block-sequence.js';
import { messagesErrorBody } from './messages-error-body.js';
import { messageId } from './render-message.js';
import { toMessagesUsage } from './to-messages-usage.js';
import { toStopReason } from './to-stop-reason.js';

export interface MessagesRenderOptions {
  requestId: string;
  /** Code points of the prompt, for the first event where no vendor has counted its tokens yet. */
  promptCharacters: number;
}

/** Spells an answer as the events of a message. */
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
        // This dialect has no place for a second answer, and none can be asked for.
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
        return this.blocks.reasoning(event.text, event.seal);
      case 'tool_call':
        return this.blocks.toolCall(event.index, event.id, event.name, event.seal);
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

  /** The last word on usage, once it is charged. */
  private messageDelta(usage: Usage): string {
    const { finishReason, stopSequence } = this;
    const { callsTools } = this.blocks;
    const stopReason = toStopReason({ finishReason, stopSequence, callsTools });
    const delta = { stop_reason: stopReason, stop_sequence: stopSequence ?? null };
    const data = { type: 'message_delta', delta, usage: toMessagesUsage(usage) };
    return `${this.blocks.end()}event: message_delta\ndata: ${JSON.stringify(data)}\n\n`;
  }
}
