import type {
  CanonicalMessage,
  CanonicalRequest,
  MessagePart,
  ToolCallPart,
  ToolResultPart,
} from '../../../canonical/canonical-request.js';
import { once } from '../../../canonical/once.js';
import { conversationField } from '../../../canonical/prompt-fields.js';
import type { JsonObject } from '../../../platform/http/json-body.js';
import { UpstreamError } from '../../upstream-error.js';
import { assertToolInputs, toolInput } from '../tool-calls.js';
import { encodeAudio, encodeMedia } from './encode-media.js';
import { SKIP_SIGNATURE_CHECK, readThoughtSignature } from './thought-signatures.js';
import type { ModelTraits } from './model-traits.js';

export interface Content {
  role: 'user' | 'model';
  parts: JsonObject[];
}

export interface EncodedContents {
  contents: Content[];
  systemInstruction: { parts: JsonObject[] } | undefined;
}

/**
 * Encodes the conversation in the vendor's form: system texts separately, alternating roles, and results of
 * parallel calls together in call order.
 *
 * @throws UpstreamError `caller` or `unsupported` for content that cannot be encoded
 */
export function encodeContents(request: CanonicalRequest, traits: ModelTraits): EncodedContents {
  return new ConversationEncoder(request, traits).encode();
}

class ConversationEncoder {
  private readonly contents: Content[] = [];
  /** Name and position of the latest call with each id. */
  private readonly calls = new Map<string, { name: string; position: number }>();
  private callCount = 0;
  /** The turn whose latest results are unsorted; sorting after each one would be quadratic. */
  private unsorted: Content | undefined;
  private readonly toolNames = once(
    () => new Set(this.request.prompt().tools.map(({ name }) => name)),
  );
  /** The request field with the conversation. */
  private readonly param: string;

  constructor(
    private readonly request: CanonicalRequest,
    private readonly traits: ModelTraits,
  ) {
    this.param = conversationField(request.dialect);
  }

  encode(): EncodedContents {
    const { messages } = this.request.prompt();
    assertToolInputs(messages, this.param);
    const system = messages.filter(({ role }) => role === 'system').flatMap(textsOf);
    for (const message of messages) {
      if (message.role === 'assistant') this.append('model', this.modelParts(message.parts));
      else if (message.role !== 'system') this.append('user', this.userParts(message.parts));
    }
    this.sortResults();
    const systemParts = system.map((text) => ({ text }));
    if (!this.traits.takesCallIds) this.contents.forEach(removeResultIds);
    if (this.contents.length > 0) {
      const systemInstruction = systemParts.length > 0 ? { parts: systemParts } : undefined;
      return { contents: this.contents, systemInstruction };
    }
    if (systemParts.length === 0) {
      throw new UpstreamError({
        failure: 'caller',
        param: this.param,
        message: 'The conversation is empty: no message has any content.',
      });
    }
    // The vendor requires a turn to answer, so a system message alone becomes one.
    return { contents: [{ role: 'user', parts: systemParts }], systemInstruction: undefined };
  }

  private append(role: Content['role'], parts: JsonObject[]): void {
    if (parts.length === 0) return;
    let content = this.contents.at(-1);
    if (content?.role !== role) {
      content = { role, parts: [] };
      this.contents.push(content);
    }
    for (const part of parts) content.parts.push(part);
    if (role === 'user' && parts.some(isResult)) this.unsorted = content;
  }

  private sortResults(): void {
    if (this.unsorted) this.unsorted.parts = this.resultsFirst(this.unsorted.parts);
    this.unsorted = undefined;
  }

  private userParts(parts: readonly MessagePart[]): JsonObject[] {
    return parts.flatMap((part): JsonObject[] => {
      switch (part.type) {
        case 'tool_result':
          return this.resultParts(part);
        case 'tool_call':
        case 'reasoning':
          return [];
        default:
          return this.contentParts(part);
      }
    });
  }

  private modelParts(parts: readonly MessagePart[]): JsonObject[] {
    const encoded: JsonObject[] = [];
    let textSignature: string | undefined;
    let isBatchSigned = false;
    for (const part of parts) {
      if (part.type === 'tool_call') {
        encoded.push(this.callPart(part, isBatchSigned));
        isBatchSigned = true;
        continue;
      }
      isBatchSigned = false;
      if (part.type === 'reasoning') {
        // Reasoning that is unsigned or signed by another vendor is useless to this one.
        const signed = readThoughtSignature(part.signature);
        if (signed?.isOnText) textSignature = signed.signature;
        else if (signed)
          encoded.push({ text: part.text, thought: true, thoughtSignature: signed.signature });
      } else if (part.type !== 'tool_result') {
        encoded.push(...this.contentParts(part));
      }
    }
    if (textSignature !== undefined) signText(encoded, textSignature);
    return encoded;
  }

  private contentParts(
    part: Exclude<MessagePart, { type: 'tool_result' | 'tool_call' | 'reasoning' }>,
  ): JsonObject[] {
    switch (part.type) {
      case 'text':
      case 'refusal':
        return part.text === '' ? [] : [{ text: part.text }];
      case 'image':
      case 'document':
        return [{ ...encodeMedia(part, this.param) }];
      case 'audio':
        return [{ ...encodeAudio(part) }];
    }
  }

  /** Only the first of several parallel calls has a signature. */
  private callPart(part: ToolCallPart, isBatchSigned: boolean): JsonObject {
    // The results so far belong to the calls so far; this call may repeat an id.
    this.sortResults();
    this.calls.set(part.id, { name: part.name, position: this.callCount++ });
    const standIn =
      this.traits.wantsSignedCalls && !isBatchSigned ? SKIP_SIGNATURE_CHECK : undefined;
    const thoughtSignature = readThoughtSignature(part.signature)?.signature ?? standIn;
    return {
      functionCall: {
        ...(this.traits.takesCallIds && { id: part.id }),
        name: part.name,
        // Non-objects, such as a free-form tool's text, are wrapped in one.
        args: toolInput(part.arguments) ?? { input: part.arguments },
      },
      ...(thoughtSignature !== undefined && { thoughtSignature }),
    };
  }

  private resultParts({ toolCallId, parts, isError }: ToolResultPart): JsonObject[] {
    const name = this.nameOf(toolCallId);
    const text = parts.map((part) => (part.type === 'text' ? part.text : '')).join('');
    const media = parts.flatMap((part) =>
      part.type === 'text' ? [] : [{ ...encodeMedia(part, this.param) }],
    );
    const isInside = media.length > 0 && this.traits.takesMediaInResults;
    const functionResponse = {
      id: toolCallId,
      name,
      response: isError === true ? { error: text } : { output: text },
      ...(isInside && { parts: media }),
    };
    return [{ functionResponse }, ...(isInside ? [] : media)];
  }

  /** Returns the tool's name. A result without a matching call may name its tool instead, as in old clients. */
  private nameOf(toolCallId: string): string {
    const call = this.calls.get(toolCallId);
    if (call) return call.name;
    if (this.toolNames().has(toolCallId)) return toolCallId;
    throw new UpstreamError({
      failure: 'caller',
      param: this.param,
      message: `There is a result for the tool call ${JSON.stringify(toolCallId.slice(0, 100))}, but no such call before it.`,
    });
  }

  /** The vendor matches results by order and requires them before other parts. */
  private resultsFirst(parts: JsonObject[]): JsonObject[] {
    const results = parts.filter(isResult);
    const positionOf = ({ functionResponse: { id } }: ResultPart): number =>
      (id === undefined ? undefined : this.calls.get(id)?.position) ?? Infinity;
    const ordered = results.toSorted((one, other) => compare(positionOf(one), positionOf(other)));
    return [...ordered, ...parts.filter((part) => !isResult(part))];
  }
}

interface ResultPart extends JsonObject {
  functionResponse: { id?: string };
}

function isResult(part: JsonObject): part is ResultPart {
  return 'functionResponse' in part;
}

/** Removes ids that the vendor does not support, after they were used for sorting. */
function removeResultIds({ parts }: Content): void {
  for (const part of parts) {
    if (isResult(part)) delete part.functionResponse.id;
  }
}

function compare(one: number, other: number): number {
  return one === other ? 0 : one - other;
}

/** Signs the last piece of an answer's text. */
function signText(parts: JsonObject[], signature: string): void {
  const last = parts.findLast((part) => typeof part.text === 'string' && part.thought !== true);
  if (last) last.thoughtSignature = signature;
  else parts.push({ text: '', thoughtSignature: signature });
}

function textsOf({ parts }: CanonicalMessage): string[] {
  return parts.flatMap((part) => (part.type === 'text' && part.text !== '' ? [part.text] : []));
}
