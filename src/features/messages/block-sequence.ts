import {
  isRedactedThought,
  encodeCallSignature,
  encodeRedactedData,
  encodeSignature,
} from './message-signatures.js';
import { GrowingObject, isObjectText } from './growing-object.js';

interface Block {
  readonly index: number;
  readonly type: 'text' | 'thinking' | 'redacted_thinking' | 'tool_use';
  /** JSON of the block's start. */
  readonly opening: string;
  state: 'waiting' | 'open' | 'ended';
  /** True when a reasoning block is complete, so that more reasoning starts another block. */
  isSigned: boolean;
  /** Events queued until earlier blocks end. */
  waiting: string;
  /** Arguments of a tool call so far. */
  readonly arguments: GrowingObject | undefined;
}

/**
 * Serializes content as blocks with one open at a time. A block ends when the next starts. A tool
 * call also waits for complete arguments, since vendors may interleave several calls; later blocks
 * are queued, at most until the answer ends.
 */
export class BlockSequence {
  private readonly blocks: Block[] = [];
  /** Number of ended blocks. The next one is open. */
  private ended = 0;
  private readonly toolCalls = new Map<number, Block>();
  private written = '';

  get callsTools(): boolean {
    return this.toolCalls.size > 0;
  }

  text(text: string): string {
    const block = this.last('text') ?? this.begin('text', { text: '' });
    this.delta(block, `{"type":"text_delta","text":${JSON.stringify(text)}}`);
    return this.take();
  }

  /** @param signature ends the block */
  reasoning(text: string, signature: string | undefined): string {
    let block = this.last('thinking');
    if (text !== '') {
      block ??= this.begin('thinking', { thinking: '', signature: '' });
      this.delta(block, `{"type":"thinking_delta","thinking":${JSON.stringify(text)}}`);
    }
    if (signature !== undefined) this.sign(block, signature);
    return this.take();
  }

  toolCall(index: number, id: string, name: string, signature: string | undefined): string {
    if (signature !== undefined)
      this.begin('redacted_thinking', { data: encodeCallSignature(id, signature) });
    this.toolCalls.set(index, this.begin('tool_use', { id, name, input: {} }));
    return this.take();
  }

  toolArguments(index: number, text: string): string {
    const block = this.toolCalls.get(index);
    // The arguments of an ended block are complete.
    if (!block || text === '' || block.state === 'ended') return '';
    block.arguments?.push(text);
    this.delta(block, `{"type":"input_json_delta","partial_json":${JSON.stringify(text)}}`);
    if (block.arguments?.isWhole) this.advance();
    return this.take();
  }

  /** Ends every block. */
  end(): string {
    while (this.ended < this.blocks.length) {
      const block = this.blocks[this.ended]!;
      this.open(block);
      this.stop(block);
    }
    return this.take();
  }

  private last(type: Block['type']): Block | undefined {
    const block = this.blocks.at(-1);
    return block?.type === type && block.state !== 'ended' && !block.isSigned ? block : undefined;
  }

  private sign(block: Block | undefined, signature: string): void {
    const data = encodeRedactedData(signature);
    if (data !== undefined && (!block || isRedactedThought(signature))) {
      this.begin('redacted_thinking', { data });
      return;
    }
    const signed = block ?? this.begin('thinking', { thinking: '', signature: '' });
    const signatureJson = JSON.stringify(encodeSignature(signature));
    this.delta(signed, `{"type":"signature_delta","signature":${signatureJson}}`);
    signed.isSigned = true;
  }

  private begin(type: Block['type'], fields: object): Block {
    const block: Block = {
      index: this.blocks.length,
      type,
      opening: JSON.stringify({ type, ...fields }),
      state: 'waiting',
      isSigned: false,
      waiting: '',
      arguments: type === 'tool_use' ? new GrowingObject() : undefined,
    };
    this.blocks.push(block);
    this.advance();
    return block;
  }

  /** Ends completed blocks that have a successor, and opens the next one. */
  private advance(): void {
    for (;;) {
      const block = this.blocks[this.ended];
      if (!block) return;
      this.open(block);
      if (block === this.blocks.at(-1)) return;
      if (block.arguments && !block.arguments.isWhole) return;
      this.stop(block);
    }
  }

  private open(block: Block): void {
    if (block.state !== 'waiting') return;
    block.state = 'open';
    this.written += event(
      'content_block_start',
      `"index":${block.index},"content_block":${block.opening}`,
    );
    this.written += block.waiting;
    block.waiting = '';
  }

  private delta(block: Block, delta: string): void {
    const line = event('content_block_delta', `"index":${block.index},"delta":${delta}`);
    if (block.state === 'open') this.written += line;
    else block.waiting += line;
  }

  private stop(block: Block): void {
    block.state = 'ended';
    this.ended++;
    this.written += event('content_block_stop', `"index":${block.index}`);
  }

  private take(): string {
    const { written } = this;
    this.written = '';
    return written;
  }
}

/** @param members of the event's JSON besides its type */
function event(type: string, members: string): string {
  return `event: ${type}\ndata: {"type":"${type}",${members}}\n\n`;
}

/**
 * Returns a tool call's `input` as JSON. Invalid or truncated arguments are wrapped in
 * `INVALID_JSON`, the name this dialect's vendor expects back, so that the caller notices and the
 * model can correct them.
 */
export function toToolInput(args: string): string {
  if (args.trim() === '') return '{}';
  return isObjectText(args) ? args : JSON.stringify({ INVALID_JSON: args });
}
