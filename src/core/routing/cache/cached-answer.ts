import type {
  ContentEvent,
  FinishEvent,
  UsageEvent,
  OutputEvent,
} from '../../../canonical/canonical-event.js';
import type { EmbeddingVectors } from '../../../canonical/work-request.js';
/** An event of an answer that is the same whenever the answer is given. */
export type CachedEvent = ContentEvent | FinishEvent | UsageEvent | OutputEvent<EmbeddingVectors>;

/** The route that gave an answer, as far as its caller may see it. */
export interface AnsweringRoute {
  readonly model: string;
  readonly provider: string;
  readonly catalogueId: string;
  readonly upstreamModel: string;
}

/** A complete answer, as it is kept: its events, pieces of one text joined. */
export interface CachedAnswer {
  readonly route: AnsweringRoute;
  readonly droppedParams: readonly string[];
  readonly events: readonly CachedEvent[];
}

/** Numbers in the bytes that they have in memory: exact, and read and written in no time. */
interface PackedVector {
  float64: string;
}

/** The same with its vectors packed. */
interface StoredAnswer extends Omit<CachedAnswer, 'events'> {
  readonly events: readonly (
    | Exclude<CachedEvent, OutputEvent<EmbeddingVectors>>
    | OutputEvent<readonly (PackedVector | string)[]>
  )[];
}

/** The bytes in which an answer is kept. */
export function encodeAnswer(answer: CachedAnswer): Buffer {
  const events = answer.events.map((event) =>
    event.type === 'output' ? { ...event, output: event.output.map(packVector) } : event,
  );
  return Buffer.from(JSON.stringify({ ...answer, events }));
}

/** Undefined for bytes that are no answer, which somebody else must have written. */
export function decodeAnswer(bytes: Buffer): CachedAnswer | undefined {
  try {
    const answer = JSON.parse(bytes.toString('utf8')) as StoredAnswer;
    const events = answer.events.map((event) =>
      event.type === 'output' ? { ...event, output: event.output.map(unpackVector) } : event,
    );
    return { ...answer, events };
  } catch {
    return undefined;
  }
}

function packVector(vector: readonly number[] | string): PackedVector | string {
  if (typeof vector === 'string') return vector;
  return { float64: Buffer.from(Float64Array.from(vector).buffer).toString('base64') };
}

function unpackVector(packed: PackedVector | string): number[] | string {
  if (typeof packed === 'string') return packed;
  const bytes = Uint8Array.from(Buffer.from(packed.float64, 'base64'));
  return Array.from(new Float64Array(bytes.buffer));
}
