import type { CanonicalEvent } from '../../canonical/canonical-event.js';
import type { WorkEvent } from '../../canonical/work-event.js';

/** More of an answer than this is not remembered, in characters or bytes. */
const MAX_REMEMBERED = 256 * 1024;

/** Sees an answer's events, and remembers what a trace tells of them. */
export class AnswerRecorder {
  /** One for each choice, in the order in which they ended. */
  readonly finishReasons: string[] = [];
  /** Content of the answer, where it is wanted. */
  readonly content: CanonicalEvent[] = [];
  /** The output of work of which it is wanted. */
  output: unknown;
  /** The vendor's id of the answer, which the caller sees too. */
  id: string | undefined;
  hasRoute = false;
  isTruncated = false;
  private remembered = 0;

  /** @param keepsOutput whether the output, if there is one, is a text */
  constructor(
    private readonly keepsContent: boolean,
    private readonly keepsOutput = false,
  ) {}

  observe(event: CanonicalEvent | WorkEvent<unknown>): void {
    switch (event.type) {
      case 'route':
        this.hasRoute = true;
        break;
      case 'start':
        this.id ??= event.id;
        break;
      case 'finish':
        this.finishReasons.push(event.reason);
        if (this.keepsContent) this.content.push(event);
        break;
      case 'relay':
        if (event.finishReason !== undefined) this.finishReasons.push(event.finishReason);
        this.remember(event, event.bytes.length);
        break;
      case 'text':
      case 'reasoning':
      case 'refusal':
      case 'tool_arguments':
        this.remember(event, event.text.length);
        break;
      case 'tool_call':
        this.remember(event, event.name.length);
        break;
      case 'output':
        if (this.keepsContent && this.keepsOutput) this.output = event.output;
        break;
      case 'usage':
      case 'settled':
        break;
    }
  }

  private remember(event: CanonicalEvent, size: number): void {
    if (!this.keepsContent || this.isTruncated) return;
    // An event has a size of its own, however little it says.
    this.remembered += size + 64;
    // A whole answer that is relayed comes as one piece, of which a cut one would be no JSON.
    if (this.remembered > MAX_REMEMBERED && this.content.length > 0) this.isTruncated = true;
    else this.content.push(event);
  }
}
