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
  /** The request field that holds the conversation, for errors. */
  param: string;
  /**
   * Whether tool calls and their results may stand in the conversation. The API refuses them
   * where no tools are offered; they are told in words then.
   */
  hasTools: boolean;
}

export interface ConverseMessages {
  system: JsonObject[];
  messages: { role: 'user' | 'assistant'; content: JsonObject[] }[];
}

interface Turn {
  role: 'user' | 'assistant';
  /** Tool results, which have to come first. */
  results: JsonObject[];
  blocks: JsonObject[];
}

/**
 * A conversation in the API's form: system texts apart, turns of user and assistant by turns, the
 * user's first.
 *
 * @throws UpstreamError `unsupported` for what the API cannot carry
 */
export function converseMessages(
  { messages }: Pick<CanonicalPrompt, 'messages'>,
  options: ConverseMessagesOptions,
): ConverseMessages {
  assertToolInputs(messages, options.param);
  const isTold = !options.hasTools && messages.some(hasToolParts);
  const writer = new MessageWriter(options, isTold);
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
  /** By id, for results that are told in words. */
  private readonly toolNames = new Map<string, string>();

  /** @param isTold whether there are tool calls that are told in words */
  constructor(
    private readonly options: ConverseMessagesOptions,
    private readonly isTold: boolean,
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
      // The API wants a user's turn; with nothing but instructions, these are it.
      return { system: [], messages: [{ role: 'user', content: this.system }] };
    }
    if (turns[0]?.role !== 'user') {
      const problem = turns.length === 0 ? 'says nothing' : 'begins with the assistant';
      throw unsupported(
        this.options.param,
        `This model wants a conversation that the user begins; this one ${problem}.`,
      );
    }
    const messages: ConverseMessages['messages'] = [];
    for (const { role, results, blocks } of turns) {
      const last = messages.at(-1);
      const content = [...results, ...blocks];
      // An empty turn between two of one role is gone by now.
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
      throw unsupported(this.options.param, 'This model takes only text in system messages.');
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
        // The API refuses blank texts.
        return part.text.trim() === '' ? [] : [{ text: part.text }];
      case 'image':
      case 'document':
        return [this.mediaBlock(part)];
      case 'audio':
        throw unsupported(this.options.param, 'This model does not listen to audio.');
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
      `This model takes no ${part.type} of type ${JSON.stringify(mediaType.slice(0, 60))}.`,
    );
  }

  private bytesOf({ source }: ImagePart | DocumentPart): { mediaType: string; bytes: string } {
    if (source.kind === 'inline') return { mediaType: source.mediaType, bytes: source.data };
    const file = this.options.media.get(source.url);
    if (!file) throw unsupported(this.options.param, 'This model takes no URLs.');
    return { mediaType: file.mediaType, bytes: file.data.toString('base64') };
  }

  /**
   * Only what this model's vendor has signed: it refuses the thoughts of others. Where tool calls
   * are told in words, the turns are no longer those that were signed.
   */
  private reasoningBlocks({ text, signature: named }: ReasoningPart): JsonObject[] {
    if (this.isTold) return [];
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
      `The arguments of an earlier call of ${JSON.stringify(name)} are no JSON object, which this model wants.`,
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
