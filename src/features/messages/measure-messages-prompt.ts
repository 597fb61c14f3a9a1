import { notOnSharedCapacity } from '../../canonical/routing-fields.js';
import type { AccountBoundParam, PromptSize } from '../../canonical/canonical-request.js';
import { PromptMeter } from '../../canonical/prompt-size.js';
import { InvalidRequestError } from '../../platform/errors/gateway-errors.js';
import { isJsonObject, type JsonBody, type JsonObject } from '../../platform/http/json-body.js';
import { assertPart, compileSchema, requireString } from '../../platform/http/validate-body.js';
import { blockSchemas, sourceSchemas, type PromptBody } from './messages.schema.js';

/** Type guards of known blocks. Measuring has validated every block of these types. */
export const isTextBlock = compileSchema(blockSchemas.text);
export const isImageBlock = compileSchema(blockSchemas.image);
export const isDocumentBlock = compileSchema(blockSchemas.document);
export const isSearchResult = compileSchema(blockSchemas.search_result);
export const isThinking = compileSchema(blockSchemas.thinking);
export const isRedactedThinking = compileSchema(blockSchemas.redacted_thinking);
export const isToolUse = compileSchema(blockSchemas.tool_use);
export const isToolResult = compileSchema(blockSchemas.tool_result);
export const isBase64Source = compileSchema(sourceSchemas.base64);
export const isUrlSource = compileSchema(sourceSchemas.url);
export const isTextSource = compileSchema(sourceSchemas.text);
export const isContentSource = compileSchema(sourceSchemas.content);

/** Body members besides the messages that are part of the prompt. */
const PROMPT_MEMBERS = new Set(['output_config']);
const TOOL_MEMBER = 'tools';

/** Blocks that are limited to one role. */
const ROLE_OF_BLOCK = new Map([
  ['thinking', 'assistant'],
  ['redacted_thinking', 'assistant'],
  ['tool_use', 'assistant'],
  ['tool_result', 'user'],
]);

export interface MeasuredMessages {
  size: PromptSize;
  /** The first content block that refers to a vendor account. */
  accountBoundParam: AccountBoundParam | undefined;
  /** True when some reasoning has no signature, which vendors of this dialect reject. */
  hasUnsignedReasoning: boolean;
}

/**
 * Validates what the schema cannot express and measures the conversation for the hold, in one
 * pass.
 * @throws InvalidRequestError naming the invalid message and block
 */
export function measureMessagesPrompt({ value, members }: JsonBody<PromptBody>): MeasuredMessages {
  const measurer = new PromptMeasurer();
  if (value.system != null) measurer.message('system', value.system, 'system');
  const messages = value.messages ?? [];
  for (let index = 0; index < messages.length; index++) {
    const { role, content } = messages[index]!;
    measurer.message(role, content, `messages.${index}.content`);
  }
  // Schemas are part of the prompt. Their byte length stands for characters.
  for (const { key, valueStart, valueEnd } of members) {
    if (PROMPT_MEMBERS.has(key)) measurer.meter.addBytes(valueEnd - valueStart);
    else if (key === TOOL_MEMBER) measurer.meter.addTools(valueEnd - valueStart);
  }
  const { accountBoundParam, hasUnsignedReasoning } = measurer;
  return { size: measurer.meter.size(), accountBoundParam, hasUnsignedReasoning };
}

class PromptMeasurer {
  readonly meter = new PromptMeter();
  accountBoundParam: AccountBoundParam | undefined;
  hasUnsignedReasoning = false;

  message(role: string, content: string | readonly JsonObject[], path: string): void {
    this.meter.addMessage();
    this.content(role, content, path);
  }

  private content(role: string, content: string | readonly JsonObject[], path: string): void {
    if (typeof content === 'string') {
      this.meter.addText(content);
      return;
    }
    for (let index = 0; index < content.length; index++) {
      this.block(role, content[index]!, `${path}.${index}`);
    }
  }

  private block(role: string, block: JsonObject, path: string): void {
    const { type } = block;
    if (typeof type !== 'string') throw wrongType(`${path}.type`, 'a string');
    if (block.cache_control != null) checkCacheControl(block.cache_control, path);
    if (role === 'system' && type !== 'text') {
      throw new InvalidRequestError(
        `${path}.type`,
        'A system prompt can contain only blocks of type "text".',
      );
    }
    const wantedRole = ROLE_OF_BLOCK.get(type);
    if (wantedRole !== undefined && wantedRole !== role) {
      throw new InvalidRequestError(
        `${path}.type`,
        `A block of type "${type}" is allowed only in ${wantedRole} messages.`,
      );
    }
    switch (type) {
      case 'text':
        assertPart(isTextBlock, block, path);
        this.meter.addText(block.text);
        return;
      case 'image':
        assertPart(isImageBlock, block, path);
        this.meter.addImage(block.source.data ?? block.source.url, block.source.media_type);
        this.media(block.source, `${path}.source`);
        return;
      case 'document':
        this.document(block, path);
        return;
      case 'search_result':
        assertPart(isSearchResult, block, path);
        this.meter.addText(block.title);
        this.meter.addText(block.source);
        this.content('search', block.content, `${path}.content`);
        return;
      case 'thinking':
        assertPart(isThinking, block, path);
        this.meter.addText(block.thinking);
        this.signature(block.signature);
        return;
      case 'redacted_thinking':
        assertPart(isRedactedThinking, block, path);
        this.signature(block.data);
        return;
      case 'tool_use':
        assertPart(isToolUse, block, path);
        this.meter.addText(block.name);
        this.meter.addText(JSON.stringify(block.input));
        return;
      case 'tool_result':
        assertPart(isToolResult, block, path);
        if (block.content != null) this.content('result', block.content, `${path}.content`);
        return;
      case 'container_upload':
        this.fileId(block.file_id, `${path}.file_id`);
        return;
      default:
        // An unknown, newer block type: vendors of this dialect validate it.
        this.meter.addText(JSON.stringify(block));
    }
  }

  private document(block: JsonObject, path: string): void {
    assertPart(isDocumentBlock, block, path);
    const { source, title, context } = block;
    for (const text of [title, context]) if (text != null) this.meter.addText(text);
    switch (source.type) {
      case 'text':
        assertPart(isTextSource, source, `${path}.source`);
        this.meter.addText(source.data);
        return;
      case 'content':
        assertPart(isContentSource, source, `${path}.source`);
        this.content('document', source.content, `${path}.source.content`);
        return;
      default:
        this.meter.addDocument(source.data ?? source.url, source.media_type);
        this.media(source, `${path}.source`);
    }
  }

  private media(source: JsonObject, path: string): void {
    switch (source.type) {
      case 'base64':
        assertPart(isBase64Source, source, path);
        return;
      case 'url':
        assertPart(isUrlSource, source, path);
        return;
      case 'file':
        this.fileId(source.file_id, `${path}.file_id`);
        return;
      default:
        requireString(source.type, `${path}.type`);
    }
  }

  private fileId(value: unknown, path: string): void {
    requireString(value, path);
    this.accountBoundParam ??= notOnSharedCapacity(
      path,
      "it refers to a file in a vendor account; send the file's data",
    );
  }

  /**
   * Signatures are encrypted. Their cost grows with length, by at most one token per three bytes.
   */
  private signature(signature: string): void {
    this.meter.addTokens(Math.ceil(signature.length / 3));
    if (signature === '') this.hasUnsignedReasoning = true;
  }
}

/** An unknown lifetime has no price. */
function checkCacheControl(control: unknown, path: string): void {
  const isKnown =
    isJsonObject(control) &&
    control.type === 'ephemeral' &&
    (control.ttl == null || control.ttl === '5m' || control.ttl === '1h');
  if (isKnown) return;
  throw new InvalidRequestError(
    `${path}.cache_control`,
    `\`${path}.cache_control\` must be {"type": "ephemeral"}, optionally with a "ttl" of "5m" or "1h".`,
  );
}

function wrongType(path: string, wanted: string): InvalidRequestError {
  return new InvalidRequestError(path, `\`${path}\` must be ${wanted}.`);
}
