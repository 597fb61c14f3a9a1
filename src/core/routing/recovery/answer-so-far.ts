import type { CanonicalEvent } from '../../../canonical/canonical-event.js';

/** What the caller has of an answer, as far as another route could go on with it. */
export class AnswerSoFar {
  /** Its text, without reasoning. */
  text = '';
  /** Whether the caller has the reason why it ended. */
  isFinished = false;
  /** In reasoning that has not come to its end, or a signature. */
  private isReasoning = false;
  /** By something that cannot be gone on with: a tool call, a refusal. */
  private isClosed = false;

  observe(event: CanonicalEvent): void {
    switch (event.type) {
      case 'text':
        if (event.text === '') break;
        this.text += event.text;
        this.isReasoning = false;
        break;
      case 'reasoning':
        this.isReasoning = event.signature === undefined;
        break;
      case 'refusal':
      case 'tool_call':
      case 'tool_arguments':
      case 'relay':
        this.isClosed = true;
        break;
      case 'finish':
        this.isFinished = true;
        break;
      case 'route':
      case 'start':
      case 'usage':
      case 'settled':
        break;
    }
  }

  /**
   * Whether another route could go on from here.
   *
   * @param signsReasoning whether the vendor signs its reasoning at the end: without that, what there
   * is of it would be refused in the next turn
   */
  canGoOn(signsReasoning: boolean): boolean {
    return !this.isClosed && !(this.isReasoning && signsReasoning);
  }
}
