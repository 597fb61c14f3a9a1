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
  /** Guardrails on answers; at least one. */
  guardrails: readonly Guardrail[];
  scanner: TextScanner;
  /** `param` of the error. */
  param: string;
  /** Called once for each guardrail with a match. */
  note: (guardrail: Guardrail) => void;
}

/**
 * Releases an answer's events once they are scanned. Holds back the last 1,000 characters of a
 * stream, and all of a whole answer, for guardrails that block. The others scan at the end, however
 * the answer ends.
 *
 * After a block releases nothing but usage: the vendor finishes, so that the charge uses its own
 * figures, and then the answer fails.
 *
 * @throws AnswerWithheldError at the end of a blocked answer
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
        // An event without text is useless while the answer is held back.
        if (event.type === 'route' || event.type === 'start' || event.type === 'usage') yield event;
        continue;
      }
      request.withheldCharacters += charactersOf(event);
      // Only the vendor's usage is still needed.
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
    // The vendor's work must be paid for in any case.
    if (withheld && !request.callerGone.aborted) throw withheld;
    throw error;
  } finally {
    // Otherwise a caller that disconnects before the end would have seen everything unlogged.
    if (!isWhole && request.streamed) await noteSeen(buffer, options);
  }
  if (request.callerGone.aborted) return;
  withheld ??= await scanWhole(buffer, options);
  if (withheld) throw withheld;
  yield* buffer.takeAll().map(release);
}

/** Scans the ends of texts that could be released. */
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

/** Lets non-blocking guardrails scan the existing part of an incomplete or blocked answer. */
async function noteSeen(
  buffer: OutputBuffer,
  { guardrails, scanner, note }: OutputGuardOptions,
): Promise<void> {
  const noting = guardrails.filter(({ action }) => action !== 'block');
  if (noting.length === 0) return;
  const { matched } = await scanner.scan(noting, buffer.whole());
  for (const guardrail of matched) note(guardrail);
}

/** Scans each text in full, which alone finds matches of any length. */
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

/**
 * Records the blocking guardrails.
 *
 * @returns the error when one blocks, or may block
 */
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
      `The guardrail ${JSON.stringify(first.name)} withheld the answer. The call is charged.`,
    );
  }
  const unknown = unfinished.find(({ action }) => action === 'block');
  if (!unknown) return undefined;
  return new AnswerWithheldError(
    param,
    `The guardrail ${JSON.stringify(unknown.name)} timed out, so the answer was withheld. The call is charged.`,
  );
}

/** Returns the error for relayed bytes, which cannot be scanned. */
function notDecoded(): InternalError {
  return new InternalError({
    cause: new Error('relayed answer instead of a decoded one'),
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

/** How to scan the output of work other than a conversation. */
interface WorkOutputGuardOptions<Output> extends Omit<OutputGuardOptions, 'request'> {
  textsOf: (output: Output) => readonly string[];
  callerGone: CancelSignal;
}

/**
 * Holds the output of work back until it is scanned.
 *
 * @throws AnswerWithheldError instead when a guardrail blocks; the work is done by then
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
