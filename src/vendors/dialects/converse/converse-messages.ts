import type {
  CanonicalMessage,
  CanonicalPrompt,
  DocumentPart,
  ImagePart,
  MessagePart,
  ReasoningPart,
  TextPart,
  ToolCallPart,
  ToolResultPart,
} from '../../../canonical/canonical-request.js';
import { assertToolInputs, toolInput } from '../tool-calls.js';
import { signatureBy } from '../../../canonical/canonical-event.js';
import { type JsonObject } from '../../../platform/http/json-body.js';
import { unsupported } from '../../upstream-error.js';
import type { PromptMedia } from '../fetch-prompt-media.js';
import { converseToolId } from './converse-tools.js';
import type { ConverseTraits } from './converse-traits.js';
import { DocumentNames, documentFormat, imageFormat, cachePoint } from './converse-blocks.js';
import { signatureOf } from './converse-reasoning.js';

export interface ConverseMessagesOptions {
  traits: ConverseTraits;
  media: PromptMedia;
  /** The request field with the conversation, for errors. */
  param: string;
  /**
   * True when the conversation may contain tool calls and results. The API rejects them when no tools are
   * offered; they are described in text then.
   */
  hasTools: boolean;
}

export interface ConverseMessages {
  system: JsonObject[];
  messages: { role: 'user' | 'assistant'; content: JsonObject[] }[];
}

interface Turn {
  role: 'user' | 'assistant';
  /** Tool results, which must come first. */
  results: JsonObject[];
  blocks: JsonObject[];
}

/**
 * Encodes a conversation in the API's form: system texts separately, then alternating turns that start
 * with the user.
 *
 * @throws UpstreamError `unsupported` for content that the API does not support
 */
export function converseMessages(
  { messages }: Pick<CanonicalPrompt, 'messages'>,
  options: ConverseMessagesOptions,
): ConverseMessages {
  assertToolInputs(messages, options.param);
  const isDescribed = !options.hasTools && messages.some(hasToolParts);
  const writer = new MessageWriter(options, isDescribed);
  for (const message of messages) writer.add(message);
  return writer.finish();
}

function hasToolParts({ parts }: CanonicalMessage): boolean {
  return parts.some(({ type }) => type === 'tool_call' || type === 'tool_result');
}

class MessageWriter {
  private readonly system: JsonObject[] = [];
  private readonly turns: Turn[] = [];
  private readonly documentNames = new DocumentNames();
  /** Keyed by call id, for results described in text. */
  private readonly toolNames = new Map<string, string>();

  /** @param isDescribed whether tool calls are described in text */
  constructor(
    private readonly options: ConverseMessagesOptions,
    private readonly isDescribed: boolean,
  ) {}

  add({ role, parts }: CanonicalMessage): void {
    if (role === 'system') {
      for (const part of parts) this.system.push(...this.systemBlocks(part));
      return;
    }
    const turn = this.turnOf(role === 'assistant' ? 'assistant' : 'user');
    for (const part of parts) {
      const isResult = part.type === 'tool_result' && this.options.hasTools;
      (isResult ? turn.results : turn.blocks).push(...this.blocksWithCachePoint(part));
    }
  }

  finish(): ConverseMessages {
    const turns = this.turns.filter(({ results, blocks }) => results.length + blocks.length > 0);
    if (turns.length === 0 && this.system.length > 0) {
      // The API requires a user turn, so instructions alone become one.
      return { system: [], messages: [{ role: 'user', content: this.system }] };
    }
    if (turns[0]?.role !== 'user') {
      const problem = turns.length === 0 ? 'is empty' : 'starts with the assistant';
      throw unsupported(
        this.options.param,
        `This model requires a conversation that starts with a user message; this one ${problem}.`,
      );
    }
    const messages: ConverseMessages['messages'] = [];
    for (const { role, results, blocks } of turns) {
      const last = messages.at(-1);
      const content = [...results, ...blocks];
      // Joins turns of one role that had an empty turn in between.
      if (last?.role === role) for (const block of content) last.content.push(block);
      else messages.push({ role, content });
    }
    return { system: this.system, messages };
  }

  private turnOf(role: Turn['role']): Turn {
    const last = this.turns.at(-1);
    if (last?.role === role) return last;
    const turn: Turn = { role, results: [], blocks: [] };
    this.turns.push(turn);
    return turn;
  }

  private systemBlocks(part: MessagePart): JsonObject[] {
    if (part.type !== 'text') {
      throw unsupported(this.options.param, 'System messages to this model can contain only text.');
    }
    return this.blocksWithCachePoint(part);
  }

  private blocksWithCachePoint(part: MessagePart): JsonObject[] {
    const blocks = this.blocks(part);
    if (blocks.length === 0) return [];
    const own = 'cacheControl' in part ? part.cacheControl : undefined;
    const inner = part.type === 'tool_result' ? part.parts : [];
    const marked = own ?? inner.findLast(({ cacheControl }) => cacheControl)?.cacheControl;
    return [...blocks, ...cachePoint(marked, this.options.traits)];
  }

  private blocks(part: MessagePart): JsonObject[] {
    switch (part.type) {
      case 'text':
      case 'refusal':
        // The API rejects blank texts.
        return part.text.trim() === '' ? [] : [{ text: part.text }];
      case 'image':
      case 'document':
        return [this.mediaBlock(part)];
      case 'audio':
        throw unsupported(this.options.param, 'This model does not support audio.');
      case 'reasoning':
        return this.reasoningBlocks(part);
      case 'tool_call':
        return [this.toolCallBlock(part)];
      case 'tool_result':
        return this.toolResultBlocks(part);
    }
  }

  private mediaBlock(part: ImagePart | DocumentPart): JsonObject {
    const { mediaType, bytes } = this.bytesOf(part);
    if (part.type === 'image') {
      const format = imageFormat(mediaType);
      if (format) return { image: { format, source: { bytes } } };
    } else {
      const format = documentFormat(mediaType);
      const name = this.documentNames.next(part.filename);
      if (format) return { document: { format, name, source: { bytes } } };
    }
    throw unsupported(
      this.options.param,
      `This model does not support the ${part.type} type ${JSON.stringify(mediaType.slice(0, 60))}.`,
    );
  }

  private bytesOf({ source }: ImagePart | DocumentPart): { mediaType: string; bytes: string } {
    if (source.kind === 'inline') return { mediaType: source.mediaType, bytes: source.data };
    const file = this.options.media.get(source.url);
    if (!file)
      throw unsupported(
        this.options.param,
        'This model does not support URLs; send the file inline.',
      );
    return { mediaType: file.mediaType, bytes: file.data.toString('base64') };
  }

  /**
   * Encodes reasoning that this model's vendor signed; it rejects any other. When tool calls are described
   * in text, the turns differ from those that were signed.
   */
  private reasoningBlocks({ text, signature: named }: ReasoningPart): JsonObject[] {
    if (this.isDescribed) return [];
    const { traits } = this.options;
    const redactedContent = signatureBy(traits.redactedIssuer, named);
    if (redactedContent !== undefined) return [{ reasoningContent: { redactedContent } }];
    const signature = signatureOf(traits.signatureIssuer, named);
    if (signature === undefined) return [];
    return [{ reasoningContent: { reasoningText: { text, signature } } }];
  }

  private toolCallBlock(part: ToolCallPart): JsonObject {
    const { id, name } = part;
    this.toolNames.set(id, name);
    if (!this.options.hasTools) return { text: `Called the tool ${name} with ${part.arguments}` };
    const toolUseId = converseToolId(id, this.options.traits);
    return { toolUse: { toolUseId, name, input: this.toolInput(part) } };
  }

  private toolInput({ name, arguments: text }: ToolCallPart): JsonObject {
    const input = toolInput(text);
    if (input) return input;
    throw unsupported(
      this.options.param,
      `This model requires JSON objects as tool arguments; those of an earlier call of ${JSON.stringify(name)} are not.`,
    );
  }

  private toolResultBlocks({ toolCallId, parts, isError }: ToolResultPart): JsonObject[] {
    const content = parts.flatMap((part: TextPart | ImagePart | DocumentPart) => this.blocks(part));
    if (content.length === 0) content.push({ text: '(empty)' });
    if (!this.options.hasTools) {
      const name = this.toolNames.get(toolCallId) ?? toolCallId;
      return [{ text: `${isError ? 'Error' : 'Result'} of the tool ${name}:` }, ...content];
    }
    const { traits } = this.options;
    const toolUseId = converseToolId(toolCallId, traits);
    const status = isError && traits.toolResultStatus ? { status: 'error' } : {};
    return [{ toolResult: { toolUseId, content, ...status } }];
  }
}
