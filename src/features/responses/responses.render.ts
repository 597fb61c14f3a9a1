import type { CanonicalEvent } from '../../canonical/canonical-event.js';
import { PromptTooLongError, type GatewayError } from '../../platform/errors/gateway-errors.js';
import { isJsonObject } from '../../platform/http/json-body.js';
import { topLevelMembers, spliceMembers } from '../../platform/http/top-level-members.js';
import type { StreamRenderer } from '../../core/answers/deliver.js';
import type { EmitEvent } from './output-builder.js';
import { ResponseAnswer, type AnswerSubject } from './response-answer.js';
import { usageFields, toResponseError } from './response-object.js';

/** Renders an answer as the dialect's server-sent events. */
export class ResponsesStreamRenderer implements StreamRenderer {
  readonly answer: ResponseAnswer;
  private pending = '';
  private sequenceNumber = 0;
  private isStarted = false;
  private lastRelayed: Buffer | undefined;

  constructor(subject: AnswerSubject) {
    this.answer = new ResponseAnswer(subject, (type, fields) => this.emit(type, fields));
  }

  render(event: CanonicalEvent): Buffer | string | undefined {
    switch (event.type) {
      case 'relay':
        this.answer.observe(event);
        // The last event contains the whole answer and must wait for the commit.
        if (event.answer) return undefined;
        this.lastRelayed = event.bytes;
        return event.bytes;
      case 'route':
      case 'settled':
        this.answer.observe(event);
        return undefined;
      case 'start':
      case 'usage':
        return undefined;
      case 'text':
      case 'reasoning':
      case 'refusal':
      case 'tool_call':
      case 'tool_arguments':
      case 'finish':
        this.start();
        this.answer.observe(event);
        return this.flush();
    }
  }

  end(): Buffer | string {
    const { relay, status } = this.answer;
    if (relay?.answer) return completeRelayedEvent(this.answer);
    this.emitResponse(`response.${status}`, this.answer.complete());
    return this.flush();
  }

  error(error: GatewayError): string {
    if (this.lastRelayed) this.sequenceNumber = nextSequenceNumber(this.lastRelayed);
    else this.start();
    this.emitResponse('response.failed', this.answer.failed(toResponseError(error)));
    return this.flush();
  }

  /** OpenAI reports a prompt that is too long within the stream, and Codex compacts only then. */
  refusal(error: unknown): string | undefined {
    if (!(error instanceof PromptTooLongError)) return undefined;
    this.start();
    const { type, param } = error;
    const told = { ...toResponseError(error), param };
    // Both the shape that OpenAI sends and the one it documents.
    this.emit('error', { ...told, error: { type, ...told } });
    return this.error(error);
  }

  /** Delayed until there is content, since another model may still take over. */
  private start(): void {
    if (this.isStarted) return;
    this.isStarted = true;
    const skeleton = this.answer.skeleton();
    this.emitResponse('response.created', skeleton);
    this.emitResponse('response.in_progress', skeleton);
  }

  private emit(...[type, fields]: Parameters<EmitEvent>): void {
    this.write(type, typeof fields === 'function' ? fields() : JSON.stringify(fields).slice(1, -1));
  }

  private emitResponse(type: string, response: string): void {
    this.write(type, `"response":${response}`);
  }

  /** @param members JSON of the event's members besides type and number */
  private write(type: string, members: string): void {
    const number = this.sequenceNumber++;
    const data = `{"type":"${type}","sequence_number":${number},${members}}`;
    this.pending += `event: ${type}\ndata: ${data}\n\n`;
  }

  private flush(): string {
    const flushed = this.pending;
    this.pending = '';
    return flushed;
  }
}

/** Renders a whole answer as one JSON body. */
export function renderResponse(answer: ResponseAnswer): Buffer {
  const { relay } = answer;
  if (!relay) return Buffer.from(answer.complete());
  const edits = lateEdits(answer);
  if (edits.size === 0) return relay.bytes;
  return spliceMembers(relay.bytes, topLevelMembers(relay.bytes), edits);
}

/** Completes the vendor's last event, which was held back. */
function completeRelayedEvent(answer: ResponseAnswer): Buffer | string {
  const { bytes } = answer.relay!;
  const edits = lateEdits(answer);
  if (edits.size === 0) return bytes;
  const text = bytes.toString('utf8');
  const dataAt = text.indexOf('data: ') + 'data: '.length;
  const event: unknown = JSON.parse(text.slice(dataAt));
  if (!isJsonObject(event) || !isJsonObject(event.response)) return bytes;
  for (const [field, value] of edits) event.response[field] = JSON.parse(value);
  return `${text.slice(0, dataAt)}${JSON.stringify(event)}\n\n`;
}

/** Returns the JSON of fields of a relayed answer that are known only after the commit. */
function lateEdits({ relay, settled, wantsStore }: ResponseAnswer): Map<string, string> {
  const edits = new Map<string, string>();
  // The vendor sent no usage, so show the charged usage.
  if (settled && !relay?.usage) edits.set('usage', JSON.stringify(usageFields(settled.usage)));
  if (wantsStore && settled?.recorded === false) edits.set('store', 'false');
  return edits;
}

function nextSequenceNumber(relayed: Buffer): number {
  const key = '"sequence_number":';
  const at = relayed.lastIndexOf(key);
  if (at === -1) return 0;
  const digits = relayed.toString('latin1', at + key.length, at + key.length + 16);
  return (parseInt(digits, 10) || 0) + 1;
}
