import type {
  CanonicalEvent,
  RelayEvent,
  SettledEvent,
  FinishReason,
} from '../../canonical/canonical-event.js';
import type { CanonicalRequest } from '../../canonical/canonical-request.js';
import type { Usage } from '../../canonical/usage.js';
import { isJsonObject, type JsonObject } from '../../platform/http/json-body.js';
import { unixSeconds } from '../../vendors/dialects/responses/response-defaults.js';
import { clientFunctions, type CallForm } from './client-tools.js';
import { isVendorItemId, randomPartOf } from './item-id.js';
import { OutputBuilder, type EmitEvent } from './output-builder.js';
import {
  outputText,
  responseFields,
  usageFields,
  type ResponseState,
  type ResponseStatus,
} from './response-object.js';

/** Identity of the answer. */
export interface AnswerSubject {
  request: CanonicalRequest & { answerId: string };
  /** Unix seconds. */
  createdAt: number;
}

/** A stored answer: the response object without its items, and the items. */
export interface AnswerSnapshot {
  status: ResponseStatus;
  model: string;
  /** JSON of the response object with an empty `output`. */
  response: string;
  /** JSON of the output items. */
  output: string;
  /** Item ids assigned by the vendor. */
  vendorItemIds?: readonly string[];
}

/** Folds an answer's events into its current state, streamed or not. */
export class ResponseAnswer {
  readonly output: OutputBuilder;
  settled: SettledEvent | undefined;
  relay: RelayEvent | undefined;
  /** True once the caller may have received content. */
  hasBegun = false;
  /** The requested model, until a route answers. */
  private model: string;
  private finishReason: FinishReason | undefined;
  private outputJson: string | undefined;
  /** Set once, so that the sent and stored versions agree. */
  private completedAt: number | undefined;

  constructor(
    private readonly subject: AnswerSubject,
    emit: EmitEvent = () => undefined,
  ) {
    const { answerId, body, models } = subject.request;
    this.model = models[0];
    let forms: ReadonlyMap<string, CallForm> | undefined;
    // Built on the first call, since most answers have none.
    const formOf = (name: string): CallForm | undefined => {
      forms ??= callForms(body.value);
      return forms.get(name);
    };
    this.output = new OutputBuilder(randomPartOf(answerId), formOf, emit);
  }

  /** True when the caller wants the response stored. */
  get wantsStore(): boolean {
    return this.subject.request.body.value.store !== false;
  }

  /** `completed`, or `incomplete` when the answer was truncated. */
  get status(): 'completed' | 'incomplete' {
    return this.incompleteReason === undefined ? 'completed' : 'incomplete';
  }

  observe(event: CanonicalEvent): void {
    // This dialect has a single choice.
    if ('choice' in event && event.choice !== 0) return;
    switch (event.type) {
      case 'route':
        this.model = event.route.model;
        return;
      case 'text':
      case 'reasoning':
      case 'refusal':
      case 'tool_call':
      case 'tool_arguments':
        this.hasBegun = true;
        this.output.observe(event);
        return;
      case 'finish':
        this.hasBegun = true;
        this.finishReason = event.reason;
        this.output.close(this.status);
        return;
      case 'relay':
        this.hasBegun = true;
        this.relay = event;
        return;
      case 'settled':
        this.settled = event;
        return;
      case 'start':
      case 'usage':
        return;
    }
  }

  /** Returns the JSON of the response object before any output. */
  skeleton(status: 'queued' | 'in_progress' = 'in_progress'): string {
    const { before, after } = this.fields(status, {});
    return JSON.stringify({ ...before, output: [], ...after });
  }

  /** Returns the JSON of the complete response object. */
  complete(): string {
    const usage = this.settled?.usage;
    const isStored = this.wantsStore && this.settled?.recorded !== false;
    const { before, after } = this.fields(this.status, { isStored, ...(usage && { usage }) });
    const head = JSON.stringify(before).slice(0, -1);
    const text = JSON.stringify(outputText(this.status, this.output.items));
    const tail = JSON.stringify(after).slice(1, -1);
    return `${head},"output":${this.itemsJson()},${tail},"output_text":${text}}`;
  }

  /** Returns the JSON of an interrupted response object. */
  failed(error: { code: string; message: string }): string {
    this.output.abandon();
    const { before, after } = this.fields('failed', { error });
    return JSON.stringify({ ...before, output: this.output.items, ...after });
  }

  /** Returns the complete answer for storage. */
  snapshot(usage: Usage): AnswerSnapshot {
    const answer = this.relay?.answer;
    if (answer) {
      const { output, status } = answer;
      const filled = { ...answer, output: [], usage: answer.usage ?? usageFields(usage) };
      return {
        status: status === 'incomplete' ? 'incomplete' : 'completed',
        model: this.model,
        response: JSON.stringify(filled),
        output: JSON.stringify(output ?? []),
        vendorItemIds: vendorItemIdsOf(output),
      };
    }
    const { before, after } = this.fields(this.status, { usage });
    const response = JSON.stringify({ ...before, output: [], ...after });
    return { status: this.status, model: this.model, response, output: this.itemsJson() };
  }

  /** Returns a failed answer's partial output for storage. */
  failedSnapshot(error: { code: string; message: string }): AnswerSnapshot {
    this.output.abandon();
    const { before, after } = this.fields('failed', { error });
    return {
      status: 'failed',
      model: this.model,
      response: JSON.stringify({ ...before, output: [], ...after }),
      output: JSON.stringify(this.output.items),
    };
  }

  /** Returns a cancelled answer's partial output for storage. */
  cancelledSnapshot(usage: Usage): AnswerSnapshot {
    this.output.abandon();
    const { before, after } = this.fields('cancelled', { usage });
    return {
      status: 'cancelled',
      model: this.model,
      response: JSON.stringify({ ...before, output: [], ...after }),
      output: JSON.stringify(this.output.items),
    };
  }

  private get incompleteReason(): string | undefined {
    if (this.finishReason === 'length') return 'max_output_tokens';
    return this.finishReason === 'content_filter' ? 'content_filter' : undefined;
  }

  private itemsJson(): string {
    // A vendor may send more events after the finish reason.
    if (this.outputJson === undefined) this.output.close(this.status);
    return (this.outputJson ??= JSON.stringify(this.output.items));
  }

  private fields(
    status: ResponseStatus,
    rest: Partial<ResponseState>,
  ): ReturnType<typeof responseFields> {
    const { request, createdAt } = this.subject;
    return responseFields(request.body.value, {
      id: request.answerId,
      createdAt,
      status,
      model: this.model,
      isStored: this.wantsStore,
      ...(status === 'completed' && { completedAt: (this.completedAt ??= unixSeconds()) }),
      ...(status === 'incomplete' && { incompleteReason: this.incompleteReason }),
      ...rest,
    });
  }
}

function callForms({ tools, input }: JsonObject): ReadonlyMap<string, CallForm> {
  return new Map(
    clientFunctions(tools, input).map(({ definition, form }) => [definition.name, form]),
  );
}

function vendorItemIdsOf(output: unknown): string[] {
  const items = Array.isArray(output) ? output.filter(isJsonObject) : [];
  return items.map(({ id }) => id).filter(isVendorItemId);
}
