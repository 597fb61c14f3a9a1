import type { BillableRequest, BillableRoute } from '../../canonical/billable-request.js';
import { countCodePoints } from '../../canonical/count-code-points.js';
import { isContent, type CanonicalEvent } from '../../canonical/canonical-event.js';
import { estimateTokens } from '../../canonical/estimate-tokens.js';
import type { FinishReason } from '../../canonical/finish-reason.js';
import type { Usage, UsageSource } from '../../canonical/usage.js';
import type { WorkEvent } from '../../canonical/work-event.js';

/** Reads, in passing, what an answer uses. */
export class UsageMeter {
  /** The route that answers; until it is known, the one that would have been first. */
  route: BillableRoute;
  finishReason: FinishReason | undefined;
  /** On the clock of `performance.now()`. */
  firstContentMs: number | undefined;
  private outputCharacters = 0;
  private reported: Usage | undefined;
  private source: UsageSource = 'upstream';

  constructor(private readonly request: BillableRequest) {
    this.route = request.routes[0];
  }

  observe(event: CanonicalEvent | WorkEvent<unknown>): void {
    if (this.firstContentMs === undefined && isContent(event)) {
      this.firstContentMs = performance.now();
    }
    switch (event.type) {
      case 'route':
        this.route = event.route;
        break;
      case 'text':
      case 'reasoning':
      case 'refusal':
      case 'tool_arguments':
        this.outputCharacters += countCodePoints(event.text);
        break;
      case 'tool_call':
        this.outputCharacters += countCodePoints(event.name);
        break;
      case 'relay':
        this.outputCharacters += event.outputCharacters;
        this.finishReason ??= event.finishReason;
        if (event.usage) this.report(event.usage);
        break;
      case 'finish':
        this.finishReason ??= event.reason;
        break;
      case 'usage':
        this.report(event.usage, event.source);
        break;
      case 'output':
        this.finishReason = 'stop';
        break;
      case 'start':
      case 'settled':
        break;
    }
  }

  /** The vendor's own figures where it gave any, else an estimate from the characters that passed. */
  read(): { usage: Usage; source: UsageSource } {
    if (this.reported) return { usage: this.reported, source: this.source };
    const { estimate, withheldCharacters = 0 } = this.request;
    const outputTokens =
      estimate.outputTokens + estimateTokens(this.outputCharacters + withheldCharacters);
    return { usage: { ...estimate, outputTokens }, source: 'estimated' };
  }

  private report(usage: Usage, source: UsageSource = 'upstream'): void {
    this.reported = usage;
    this.source = source;
  }
}
