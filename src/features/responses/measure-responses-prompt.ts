import { notOnSharedCapacity } from '../../canonical/routing-fields.js';
import type { AccountBoundParam } from '../../canonical/canonical-request.js';
import type { PromptMeter } from '../../canonical/prompt-size.js';
import { InvalidRequestError } from '../../platform/errors/gateway-errors.js';
import type { JsonObject } from '../../platform/http/json-body.js';
import { assertPart, compileSchema, requireString } from '../../platform/http/validate-body.js';
import { itemSchemas, responsePartSchemas } from './create-response.schema.js';

/** Type guards of known items and parts. Measuring has validated every item of these types. */
export const isMessage = compileSchema(itemSchemas.message);
export const isFunctionCall = compileSchema(itemSchemas.function_call);
export const isCustomToolCall = compileSchema(itemSchemas.custom_tool_call);
export const isToolOutput = compileSchema(itemSchemas.output);
export const isReasoning = compileSchema(itemSchemas.reasoning);
export const isTextPart = compileSchema(responsePartSchemas.text);
export const isRefusalPart = compileSchema(responsePartSchemas.refusal);
export const isAudioPart = compileSchema(responsePartSchemas.input_audio);

const ROLES: readonly unknown[] = ['user', 'assistant', 'system', 'developer'];

/**
 * Validates what the schema cannot express and measures the items for the hold, in one pass.
 * @param pathOf field path of an item in errors
 * @returns the first reference to a vendor account
 * @throws InvalidRequestError naming the invalid item and part
 */
export function measureItems(
  items: readonly JsonObject[],
  pathOf: (index: number) => string,
  meter: PromptMeter,
): AccountBoundParam | undefined {
  let accountBound: AccountBoundParam | undefined;
  for (let index = 0; index < items.length; index++) {
    const measurer = new ItemMeasurer(pathOf(index), meter);
    measurer.measure(items[index]!);
    accountBound ??= measurer.accountBound;
  }
  return accountBound;
}

class ItemMeasurer {
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
        assertPart(isFunctionCall, item, this.path);
        this.texts(item.call_id, item.name, item.arguments);
        return;
      case 'custom_tool_call':
        assertPart(isCustomToolCall, item, this.path);
        this.texts(item.call_id, item.name, item.input);
        return;
      case 'function_call_output':
      case 'custom_tool_call_output':
        assertPart(isToolOutput, item, this.path);
        this.texts(item.call_id);
        this.content(item.output, `${this.path}.output`);
        return;
      case 'reasoning':
        assertPart(isReasoning, item, this.path);
        for (const { text } of [...(item.summary ?? []), ...(item.content ?? [])]) this.texts(text);
        if (item.encrypted_content != null) this.texts(item.encrypted_content);
        return;
      case 'local_shell_call':
      case 'local_shell_call_output':
      case 'shell_call':
      case 'shell_call_output':
      case 'apply_patch_call':
      case 'apply_patch_call_output':
      case 'tool_search_call':
      case 'tool_search_output':
        this.meter.addText(JSON.stringify(item));
        return;
      default:
        // An unknown, newer item type: vendors of this dialect validate it.
        requireString(item.type, `${this.path}.type`);
        this.meter.addUnknown(item);
    }
  }

  private message(item: JsonObject): void {
    if (!ROLES.includes(item.role)) {
      const param = `${this.path}.role`;
      const known = ROLES.map((role) => `"${String(role)}"`).join(', ');
      throw new InvalidRequestError(param, `\`${param}\` must be one of ${known}.`);
    }
    assertPart(isMessage, item, this.path);
    this.content(item.content, `${this.path}.content`);
  }

  private content(content: string | readonly JsonObject[], path: string): void {
    if (typeof content === 'string') {
      this.meter.addText(content);
      return;
    }
    for (let index = 0; index < content.length; index++) {
      this.part(content[index]!, `${path}.${index}`);
    }
  }

  private part(part: JsonObject, path: string): void {
    switch (part.type) {
      case 'input_text':
      case 'output_text':
      case 'text':
        assertPart(isTextPart, part, path);
        this.texts(part.text);
        return;
      case 'refusal':
        assertPart(isRefusalPart, part, path);
        this.texts(part.refusal);
        return;
      case 'input_image':
        this.meter.addImage(part.image_url);
        if (!this.isFileId(part, path)) requireString(part.image_url, `${path}.image_url`);
        return;
      case 'input_file':
        this.meter.addDocument(part.file_data ?? part.file_url);
        if (this.isFileId(part, path)) return;
        requireString(part.file_data ?? part.file_url, `${path}.file_data`);
        return;
      case 'input_audio':
        assertPart(isAudioPart, part, path);
        this.meter.addAudio(part.input_audio.data, part.input_audio.format);
        return;
      default:
        requireString(part.type, `${path}.type`);
        this.meter.addUnknown(part);
    }
  }

  private isFileId(part: JsonObject, path: string): boolean {
    if (part.file_id == null) return false;
    this.accountBound ??= notOnSharedCapacity(
      `${path}.file_id`,
      "it refers to a file in a vendor account; send the file's data or URL",
    );
    return true;
  }

  private texts(...texts: readonly string[]): void {
    for (const text of texts) this.meter.addText(text);
  }
}
