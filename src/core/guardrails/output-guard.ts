import { countCodePoints } from '../../canonical/prompt-size.js';
import {
  isContent,
  type CanonicalEvent,
  type OutputEvent,
  type WorkEvent,
} from '../../canonical/canonical-event.js';
import { AnswerWithheldError, InternalError } from '../../platform/errors/gateway-errors.js';
import type { Guardrail, GuardedTextRequest } from './guardrail.js';
import { OutputBuffer } from './output-buffer.js';
import type { ScanOutcome, TextScanner } from './text-scanner.service.js';
import type { CancelSignal } from '../../canonical/cancel-signal.js';

interface OutputGuardOptions {
  request: GuardedTextRequest;
  /** Those that look at answers; at least one. */
  guardrails: readonly Guardrail[];
  scanner: TextScanner;
  /** What a refusal names. */
  param: string;
  /** A guardrail has found something; called once for each. */
  note: (guardrail: Guardrail) => void;
}

/**
 * Passes an answer's events on once they have been looked at. While a stream lasts, its last 1,000
 * characters are kept back for guardrails that block; a whole answer is kept back altogether. The
 * others look at the end, however it comes to that.
 *
 * Once one blocks, nothing more is passed on but the usage: the vendor finishes, so that the charge
 * rests on its own figures, and then the answer fails.
 *
 * @throws AnswerWithheldError at the end of an answer that is blocked
 */
export async function* guardOutput(
  events: AsyncIterable<CanonicalEvent>,
  options: OutputGuardOptions,
): AsyncGenerator<CanonicalEvent> {
  const { request } = options;
  const blocking = options.guardrails.filter(({ action }) => action === 'block');
  const holds = blocking.length > 0 || !request.streamed;
  const buffer = new OutputBuffer();
  let withheld: AnswerWithheldError | undefined;
  let isWhole = false;

  const release = (event: CanonicalEvent): CanonicalEvent => {
    request.withheldCharacters -= charactersOf(event);
    return event;
  };

  try {
    for await (const event of events) {
      if (event.type === 'relay') throw notDecoded();
      if (!isContent(event)) {
        // Text without a character is of no use to whoever waits for an answer that is kept back.
        if (event.type === 'route' || event.type === 'start' || event.type === 'usage') yield event;
        continue;
      }
      request.withheldCharacters += charactersOf(event);
      // Nobody reads on, and only the vendor's figures are waited for.
      if (withheld || request.callerGone.aborted) continue;
      buffer.add(event);
      if (!holds) yield* buffer.takeAll().map(release);
      else if (request.streamed) {
        withheld = await scanWindows(buffer, blocking, options);
        if (!withheld) yield* buffer.takeSafe().map(release);
      }
    }
    isWhole = !withheld && !request.callerGone.aborted;
  } catch (error) {
    // What the vendor did by then has to be paid for, whatever became of the rest.
    if (withheld && !request.callerGone.aborted) throw withheld;
    throw error;
  } finally {
    // Or who leaves before the end would have seen all of it, and nobody would know.
    if (!isWhole && request.streamed) await noteSeen(buffer, options);
  }
  if (request.callerGone.aborted) return;
  withheld ??= await scanWhole(buffer, options);
  if (withheld) throw withheld;
  yield* buffer.takeAll().map(release);
}

/** Looks at those ends of texts that could be passed on if they are innocent. */
async function scanWindows(
  buffer: OutputBuffer,
  blocking: readonly Guardrail[],
  options: OutputGuardOptions,
): Promise<AnswerWithheldError | undefined> {
  for (const window of buffer.windowsToScan()) {
    const outcome = await options.scanner.scan(blocking, {
      texts: [window.text],
      characters: window.characters,
      from: window.from,
      isPartial: true,
      signal: options.request.callerGone,
    });
    const withheld = judge(outcome, options);
    if (withheld) return withheld;
    buffer.noteScan(window, outcome.undecidedFrom);
  }
  return undefined;
}

/** Has those guardrails that only note look at what came of an answer that did not come to its end, or was blocked. */
async function noteSeen(
  buffer: OutputBuffer,
  { guardrails, scanner, note }: OutputGuardOptions,
): Promise<void> {
  const noting = guardrails.filter(({ action }) => action !== 'block');
  if (noting.length === 0) return;
  const { matched } = await scanner.scan(noting, buffer.whole());
  for (const guardrail of matched) note(guardrail);
}

/** Looks at each text from its beginning to its end, which alone finds matches of any length. */
async function scanWhole(
  buffer: OutputBuffer,
  options: OutputGuardOptions,
): Promise<AnswerWithheldError | undefined> {
  const outcome = await options.scanner.scan(options.guardrails, {
    ...buffer.whole(),
    signal: options.request.callerGone,
  });
  for (const guardrail of outcome.matched) {
    if (guardrail.action !== 'block') options.note(guardrail);
  }
  return judge(outcome, options);
}

/** Notes which guardrails block. @returns what to throw when one does, or may */
function judge(
  { matched, unfinished }: ScanOutcome,
  { note, param }: Pick<OutputGuardOptions, 'note' | 'param'>,
): AnswerWithheldError | undefined {
  const blocks = matched.filter(({ action }) => action === 'block');
  for (const guardrail of blocks) note(guardrail);
  const [first] = blocks;
  if (first) {
    return new AnswerWithheldError(
      param,
      `The guardrail ${JSON.stringify(first.name)} withholds the answer. The call is charged.`,
    );
  }
  const unknown = unfinished.find(({ action }) => action === 'block');
  if (!unknown) return undefined;
  return new AnswerWithheldError(
    param,
    `The guardrail ${JSON.stringify(unknown.name)} could not be checked in time, so the answer is withheld. The call is charged.`,
  );
}

/** Bytes cannot be looked at, so an adapter that relays them all the same must not get through. */
function notDecoded(): InternalError {
  return new InternalError({
    cause: new Error('a relayed answer where a decoded one was asked for'),
  });
}

function charactersOf(event: CanonicalEvent): number {
  switch (event.type) {
    case 'text':
    case 'reasoning':
    case 'refusal':
    case 'tool_arguments':
      return countCodePoints(event.text);
    case 'tool_call':
      return countCodePoints(event.name);
    default:
      return 0;
  }
}

/** What is looked at in the output of work that is no conversation, and how. */
interface WorkOutputGuardOptions<Output> extends Omit<OutputGuardOptions, 'request'> {
  textsOf: (output: Output) => readonly string[];
  callerGone: CancelSignal;
}

/**
 * Keeps the output of work back until all of it has been looked at.
 *
 * @throws AnswerWithheldError in its place when a guardrail blocks; the work has been done by then
 */
export async function* guardWorkOutput<Output>(
  events: AsyncIterable<WorkEvent<Output>>,
  options: WorkOutputGuardOptions<Output>,
): AsyncGenerator<WorkEvent<Output>, undefined> {
  const outputs: OutputEvent<Output>[] = [];
  for await (const event of events) {
    if (event.type === 'output') outputs.push(event);
    else yield event;
  }
  const texts = outputs.flatMap(({ output }) => options.textsOf(output));
  const characters = texts.reduce((sum, text) => sum + text.length, 0);
  const outcome = await options.scanner.scan(options.guardrails, {
    texts,
    characters,
    signal: options.callerGone,
  });
  for (const guardrail of outcome.matched) {
    if (guardrail.action !== 'block') options.note(guardrail);
  }
  const withheld = judge(outcome, options);
  if (withheld) throw withheld;
  yield* outputs;
  return undefined;
}
