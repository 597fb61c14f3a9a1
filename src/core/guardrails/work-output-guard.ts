import type { OutputEvent, WorkEvent } from '../../canonical/work-event.js';
import { judge, type OutputGuardOptions } from './output-guard.js';

/** What is looked at in the output of work that is no conversation, and how. */
export interface WorkOutputGuardOptions<Output> extends Omit<OutputGuardOptions, 'request'> {
  textsOf: (output: Output) => readonly string[];
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
  const outcome = await options.scanner.scan(options.guardrails, { texts, characters });
  for (const guardrail of outcome.matched) {
    if (guardrail.action !== 'block') options.note(guardrail);
  }
  const withheld = judge(outcome, options);
  if (withheld) throw withheld;
  yield* outputs;
  return undefined;
}
