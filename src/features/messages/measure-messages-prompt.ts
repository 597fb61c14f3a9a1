import { notOnSharedCapacity } from '../../canonical/routing-fields.js';
import type { AccountBoundParam, PromptSize } from '../../canonical/canonical-request.js';
import { PromptMeter } from '../../canonical/prompt-size.js';
import { InvalidRequestError } from '../../platform/errors/gateway-errors.js';
import { isJsonObject, type JsonBody, type JsonObject } from '../../platform/http/json-body.js';
import { requireString } from '../../platform/http/validate-body.js';

/** Members beside the messages that the model reads as well. */
const PROMPT_MEMBERS = new Set(['output_config']);
const TOOL_MEMBER = 'tools';

/** Blocks that only stand in one role's messages. */
const ROLE_OF_BLOCK = new Map([
  ['thinking', 'assistant'],
  ['redacted_thinking', 'assistant'],
  ['tool_use', 'assistant'],
  ['tool_result', 'user'],
]);

export interface MeasuredMessages {
  size: PromptSize;
  /** The first content block that names a thing in the vendor account. */
  accountBoundParam: AccountBoundParam | undefined;
  /** Whether some reasoning has no seal, which a vendor of this dialect would refuse. */
  hasUnsealedReasoning: boolean;
}

/**
 * Walks the conversation once: checks what the schema cannot say, and measures it for the hold.
 *
 * @throws InvalidRequestError naming the message and block at fault
 */
export function measureMessagesPrompt({ value, members }: JsonBody): MeasuredMessages {
  const walk = new PromptWalk();
  if (value.system != null) walk.message('system', value.system, 'system');
  const messages = value.messages as JsonObject[];
  for (let index = 0; index < messages.length; index++) {
    const { role, content } = messages[index]!;
    walk.message(role as string, content, `messages.${index}.content`);
  }
  // Schemas are prompt text as well; their length in bytes stands for their characters.
  for (const { key, valueStart, valueEnd } of members) {
    if (PROMPT_MEMBERS.has(key)) walk.meter.addBytes(valueEnd - valueStart);
    else if (key === TOOL_MEMBER) walk.meter.addTools(valueEnd - valueStart);
  }
  const { accountBoundParam, hasUnsealedReasoning } = walk;
  return { size: walk.meter.size(), accountBoundParam, hasUnsealedReasoning };
}

class PromptWalk {
  readonly meter = new PromptMeter();
  accountBoundParam: AccountBoundParam | undefined;
  hasUnsealedReasoning = false;

  message(role: string, content: unknown, path: string): void {
    this.meter.addMessage();
    this.content(role, content, path);
  }

  private content(role: string, content: unknown, path: string): void {
    if (typeof content === 'string') {
      this.meter.addText(content);
      return;
    }
    const blocks = content as JsonObject[];
    for (let index = 0; index < blocks.length; index++) {
      this.block(role, blocks[index]!, `${path}.${index}`);
    }
  }

  private block(role: string, block: JsonObject, path: string): void {
    const type = block.type as string;
    if (block.cache_control != null) checkCacheControl(block.cache_control, path);
    if (role === 'system' && type !== 'text') {
      throw new InvalidRequestError(`${path}.type`, 'A system prompt takes blocks of type "text".');
    }
    const wantedRole = ROLE_OF_BLOCK.get(type);
    if (wantedRole !== undefined && wantedRole !== role) {
      throw new InvalidRequestError(
        `${path}.type`,
        `A block of type "${type}" stands in ${wantedRole} messages only.`,
      );
    }
    switch (type) {
      case 'text':
        this.text(block.text, `${path}.text`);
        return;
      case 'image':
        this.media(block.source, `${path}.source`, () => this.meter.addImage());
        return;
      case 'document':
        this.document(block, path);
        return;
      case 'search_result':
        this.text(block.title, `${path}.title`);
        this.text(block.source, `${path}.source`);
        this.nested('search', block.content, `${path}.content`);
        return;
      case 'thinking':
        this.text(block.thinking, `${path}.thinking`);
        this.seal(block.signature, `${path}.signature`);
        return;
      case 'redacted_thinking':
        this.seal(block.data, `${path}.data`);
        return;
      case 'tool_use':
        requireString(block.id, `${path}.id`);
        this.text(block.name, `${path}.name`);
        if (!isJsonObject(block.input)) throw wrongType(`${path}.input`, 'an object');
        this.meter.addText(JSON.stringify(block.input));
        return;
      case 'tool_result':
        requireString(block.tool_use_id, `${path}.tool_use_id`);
        if (block.is_error != null && typeof block.is_error !== 'boolean') {
          throw wrongType(`${path}.is_error`, 'a boolean');
        }
        if (block.content != null) this.nested('result', block.content, `${path}.content`);
        return;
      case 'container_upload':
        this.fileId(block.file_id, `${path}.file_id`);
        return;
      default:
        // A block that came after this was written: for a vendor of this dialect to judge.
        this.meter.addText(JSON.stringify(block));
    }
  }

  /** Content of a block: a string, or blocks that no schema has checked. */
  private nested(role: string, content: unknown, path: string): void {
    if (typeof content !== 'string') {
      if (!Array.isArray(content)) throw wrongType(path, 'a string or an array');
      content.forEach((block: unknown, index) => {
        if (!isJsonObject(block)) throw wrongType(`${path}.${index}`, 'an object');
        requireString(block.type, `${path}.${index}.type`);
      });
    }
    this.content(role, content, path);
  }

  private document(block: JsonObject, path: string): void {
    const { source } = block;
    for (const field of ['title', 'context']) {
      if (block[field] != null) this.text(block[field], `${path}.${field}`);
    }
    if (isJsonObject(source) && source.type === 'text') {
      this.text(source.data, `${path}.source.data`);
    } else if (isJsonObject(source) && source.type === 'content') {
      this.nested('document', source.content, `${path}.source.content`);
    } else {
      this.media(source, `${path}.source`, () => {
        this.meter.addDocument(isJsonObject(source) ? source.data : undefined);
      });
    }
  }

  private media(source: unknown, path: string, count: () => void): void {
    if (!isJsonObject(source)) throw wrongType(path, 'an object');
    count();
    switch (source.type) {
      case 'base64':
        requireString(source.media_type, `${path}.media_type`);
        requireString(source.data, `${path}.data`);
        return;
      case 'url':
        requireString(source.url, `${path}.url`);
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
      "it names a file in a vendor account; send the file's data",
    );
  }

  private text(value: unknown, path: string): void {
    this.meter.addText(requireString(value, path));
  }

  /** A seal is encrypted; what it costs grows with its length, at most by a token for three bytes. */
  private seal(value: unknown, path: string): void {
    const seal = requireString(value, path);
    this.meter.addTokens(Math.ceil(seal.length / 3));
    if (seal === '') this.hasUnsealedReasoning = true;
  }
}

/** A lifetime that is not known here has no price here either. */
function checkCacheControl(control: unknown, path: string): void {
  const isKnown =
    isJsonObject(control) &&
    control.type === 'ephemeral' &&
    (control.ttl == null || control.ttl === '5m' || control.ttl === '1h');
  if (isKnown) return;
  throw new InvalidRequestError(
    `${path}.cache_control`,
    `\`${path}.cache_control\` must be {"type": "ephemeral"}, with a "ttl" of "5m" or "1h" if any.`,
  );
}

function wrongType(path: string, wanted: string): InvalidRequestError {
  return new InvalidRequestError(path, `\`${path}\` must be ${wanted}.`);
}
