import type {
  CanonicalEvent,
  ReasoningEvent,
  RelayEvent,
  SettledEvent,
  FinishReason,
  WorkEvent,
} from './canonical-event.js';
import type { BillableRoute } from './billable-route.js';

/** A whole, non-streamed answer, folded from its events. */
export interface CollectedAnswer {
  route: BillableRoute;
  droppedParams: readonly string[];
  /** The answer in the caller's own dialect, when the upstream spoke it; `choices` is then empty. */
  relay: RelayEvent | undefined;
  choices: CollectedChoice[];
  settled: SettledEvent;
}

export interface CollectedChoice {
  text: string;
  /** Reasoning blocks, in order. */
  reasoning: { text: string; signature?: string }[];
  refusal: string;
  toolCalls: { id: string; name: string; arguments: string; signature?: string }[];
  logprobs: unknown[];
  finishReason: FinishReason | undefined;
  stopSequence: string | undefined;
}

/** Folds an answer's events. @throws whatever the events throw */
export async function collect(events: AsyncIterable<CanonicalEvent>): Promise<CollectedAnswer> {
  const answer: Partial<CollectedAnswer> & { choices: CollectedChoice[] } = { choices: [] };
  const choice = (index: number): CollectedChoice =>
    (answer.choices[index] ??= {
      text: '',
      reasoning: [],
      refusal: '',
      toolCalls: [],
      logprobs: [],
      finishReason: undefined,
      stopSequence: undefined,
    });
  for await (const event of events) {
    switch (event.type) {
      case 'route':
        answer.route = event.route;
        answer.droppedParams = event.droppedParams;
        break;
      case 'text':
        choice(event.choice).text += event.text;
        if (event.logprobs != null) choice(event.choice).logprobs.push(event.logprobs);
        break;
      case 'reasoning':
        addReasoning(choice(event.choice).reasoning, event);
        break;
      case 'refusal':
        choice(event.choice).refusal += event.text;
        break;
      case 'tool_call':
        choice(event.choice).toolCalls[event.index] = {
          id: event.id,
          name: event.name,
          arguments: '',
          ...(event.signature !== undefined && { signature: event.signature }),
        };
        break;
      case 'tool_arguments': {
        const call = choice(event.choice).toolCalls[event.index];
        if (call) call.arguments += event.text;
        break;
      }
      case 'finish':
        choice(event.choice).finishReason = event.reason;
        choice(event.choice).stopSequence = event.stopSequence;
        break;
      case 'relay':
        answer.relay = event;
        break;
      case 'settled':
        answer.settled = event;
        break;
      case 'start':
      case 'usage':
        break;
    }
  }
  const { route, droppedParams, relay, choices, settled } = answer;
  if (!route || !settled) throw new Error('an answer without its route or settlement');
  return { route, droppedParams: droppedParams ?? [], relay, choices, settled };
}

/** Appends reasoning. A signature ends a block, and whatever follows starts a new one. */
function addReasoning(
  blocks: CollectedChoice['reasoning'],
  { text, signature }: ReasoningEvent,
): void {
  const last = blocks.at(-1);
  const open = last && last.signature === undefined ? last : undefined;
  if (!open) {
    blocks.push({ text, ...(signature !== undefined && { signature }) });
    return;
  }
  open.text += text;
  if (signature !== undefined) open.signature = signature;
}

/** A whole answer to work other than text generation. */
export interface CollectedWork<Output> {
  route: BillableRoute;
  droppedParams: readonly string[];
  /** In order; at least one. */
  outputs: [Output, ...Output[]];
  settled: SettledEvent;
}

/** Folds an answer's events. @throws whatever the events throw */
export async function collectWork<Output>(
  events: AsyncIterable<WorkEvent<Output>>,
): Promise<CollectedWork<Output>> {
  const work: Partial<CollectedWork<Output>> = {};
  const outputs: Output[] = [];
  for await (const event of events) {
    if (event.type === 'route') {
      work.route = event.route;
      work.droppedParams = event.droppedParams;
    } else if (event.type === 'output') outputs.push(event.output);
    else if (event.type === 'settled') work.settled = event;
  }
  const { route, droppedParams = [], settled } = work;
  const [first, ...others] = outputs;
  if (!route || !settled || first === undefined) {
    throw new Error('work without its route, output or settlement');
  }
  return { route, droppedParams, outputs: [first, ...others], settled };
}
