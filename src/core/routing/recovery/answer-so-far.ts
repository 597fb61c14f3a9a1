import type { CanonicalEvent } from '../../../canonical/canonical-event.js';

/**
 * Tracks what the caller has received of an answer, to decide whether another route can continue
 * it.
 */
export class AnswerSoFar {
  /** Text without reasoning. */
  text = '';
  /** True when the caller has received the finish reason. */
  isFinished = false;
  /** Inside unfinished reasoning, or awaiting its signature. */
  private isReasoning = false;
  /** Contains something that cannot be continued: a tool call or a refusal. */
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
   * Returns whether another route could continue from here.
   *
   * @param signsReasoning whether the vendor signs its reasoning at the end; it rejects unsigned
   * reasoning in the next turn
   */
  canContinue(signsReasoning: boolean): boolean {
    return !this.isClosed && !(this.isReasoning && signsReasoning);
  }
}
