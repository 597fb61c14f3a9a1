import type { BillableRequest, BillableRoute } from '../canonical/billable-request.js';
import { countCodePoints } from '../canonical/count-code-points.js';
import { isContent, type CanonicalEvent } from '../canonical/canonical-event.js';
import { estimateTokens } from '../canonical/estimate-tokens.js';
import type { FinishReason } from '../canonical/finish-reason.js';
import { NO_USAGE, type Usage, type UsageSource } from '../canonical/usage.js';

/** Reads, in passing, what an answer uses. */
export class UsageMeter {
  /** The route that answers; until it is known, the one that would have been first. */
  route: BillableRoute;
  finishReason: FinishReason | undefined;
  /** On the clock of `performance.now()`. */
  firstContentMs: number | undefined;
  private outputCharacters = 0;
  private reported: Usage | undefined;

  constructor(private readonly request: BillableRequest) {
    this.route = request.routes[0];
  }

  observe(event: CanonicalEvent): void {
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
        if (event.usage) this.reported = event.usage;
        break;
      case 'finish':
        this.finishReason ??= event.reason;
        break;
      case 'usage':
        this.reported = event.usage;
        break;
      case 'start':
      case 'settled':
        break;
    }
  }

  /** The vendor's own figures where it gave any, else an estimate from the characters that passed. */
  read(): { usage: Usage; source: UsageSource } {
    if (this.reported) return { usage: this.reported, source: 'upstream' };
    const usage = {
      ...NO_USAGE,
      inputTokens: estimateTokens(this.request.promptCharacters),
      outputTokens: estimateTokens(this.outputCharacters + (this.request.withheldCharacters ?? 0)),
    };
    return { usage, source: 'estimated' };
  }
}
