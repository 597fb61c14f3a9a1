import { notOnSharedCapacity } from '../../canonical/routing-fields.js';
import type { AccountBoundParam } from '../../canonical/canonical-request.js';
import type { PromptMeter } from '../../canonical/prompt-size.js';
import { InvalidRequestError } from '../../platform/errors/gateway-errors.js';
import { isJsonObject, type JsonObject } from '../../platform/http/json-body.js';
import { requireString } from '../../platform/http/validate-body.js';

/** An upper figure for parts whose tokens cannot be told from their length. */
const TOKENS_PER_UNKNOWN = 20_000;

const ROLES = ['user', 'assistant', 'system', 'developer'];

/**
 * Walks items once: checks what the schema cannot say, and measures them for the hold.
 *
 * @param pathOf how the item's field is called in errors
 * @returns the first thing in them that lives in a vendor account
 * @throws InvalidRequestError naming the item and part at fault
 */
export function measureItems(
  items: readonly JsonObject[],
  pathOf: (index: number) => string,
  meter: PromptMeter,
): AccountBoundParam | undefined {
  let accountBound: AccountBoundParam | undefined;
  for (let index = 0; index < items.length; index++) {
    const walk = new ItemWalk(pathOf(index), meter);
    walk.measure(items[index]!);
    accountBound ??= walk.accountBound;
  }
  return accountBound;
}

class ItemWalk {
  accountBound: AccountBoundParam | undefined;

  constructor(
    private readonly path: string,
    private readonly meter: PromptMeter,
  ) {}

  measure(item: JsonObject): void {
    this.meter.addMessage();
    switch (item.type ?? 'message') {
      case 'message':
        this.message(item);
        return;
      case 'function_call':
        this.texts(item, 'call_id', 'name', 'arguments');
        return;
      case 'custom_tool_call':
        this.texts(item, 'call_id', 'name', 'input');
        return;
      case 'function_call_output':
      case 'custom_tool_call_output':
        this.texts(item, 'call_id');
        this.content(item.output, `${this.path}.output`);
        return;
      case 'reasoning':
        this.reasoning(item);
        return;
      default:
        // An item that came after this was written: for a vendor of the same dialect to judge.
        this.texts(item, 'type');
        this.meter.addTokens(TOKENS_PER_UNKNOWN);
    }
  }

  private message(item: JsonObject): void {
    if (!ROLES.includes(item.role as string)) {
      const known = ROLES.map((role) => `"${role}"`).join(', ');
      this.fail(`${this.path}.role`, `must be one of ${known}`);
    }
    this.content(item.content, `${this.path}.content`);
  }

  private content(content: unknown, path: string): void {
    if (typeof content === 'string') {
      this.meter.addText(content);
      return;
    }
    if (!Array.isArray(content)) this.fail(path, 'must be a string or an array');
    for (let index = 0; index < content.length; index++) {
      const part: unknown = content[index];
      if (!isJsonObject(part)) this.fail(`${path}.${index}`, 'must be an object');
      this.part(part, `${path}.${index}`);
    }
  }

  private part(part: JsonObject, path: string): void {
    switch (part.type) {
      case 'input_text':
      case 'output_text':
      case 'text':
        this.text(part.text, `${path}.text`);
        return;
      case 'refusal':
        this.text(part.refusal, `${path}.refusal`);
        return;
      case 'input_image':
        this.meter.addImage();
        if (!this.isFileId(part, path)) requireString(part.image_url, `${path}.image_url`);
        return;
      case 'input_file':
        this.meter.addDocument(part.file_data);
        if (this.isFileId(part, path)) return;
        requireString(part.file_data ?? part.file_url, `${path}.file_data`);
        return;
      case 'input_audio': {
        const audio = isJsonObject(part.input_audio) ? part.input_audio : {};
        this.meter.addAudio(audio.data, audio.format);
        requireString(audio.data, `${path}.input_audio.data`);
        return;
      }
      default:
        requireString(part.type, `${path}.type`);
        this.meter.addTokens(TOKENS_PER_UNKNOWN);
    }
  }

  private isFileId(part: JsonObject, path: string): boolean {
    if (part.file_id == null) return false;
    this.accountBound ??= notOnSharedCapacity(
      `${path}.file_id`,
      "it names a file in a vendor account; send the file's data or URL",
    );
    return true;
  }

  private reasoning(item: JsonObject): void {
    for (const field of ['summary', 'content']) {
      const path = `${this.path}.${field}`;
      const parts = item[field];
      if (parts == null) continue;
      if (!Array.isArray(parts)) this.fail(path, 'must be an array');
      for (let index = 0; index < parts.length; index++) {
        const part: unknown = parts[index];
        this.text(isJsonObject(part) ? part.text : undefined, `${path}.${index}.text`);
      }
    }
    const seal = item.encrypted_content;
    if (seal != null) this.text(seal, `${this.path}.encrypted_content`);
  }

  private texts(item: JsonObject, ...fields: string[]): void {
    for (const field of fields) this.text(item[field], `${this.path}.${field}`);
  }

  private text(value: unknown, path: string): void {
    this.meter.addText(requireString(value, path));
  }

  private fail(path: string, what: string): never {
    throw new InvalidRequestError(path, `\`${path}\` ${what}.`);
  }
}
