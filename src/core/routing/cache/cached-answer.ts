import type {
  ContentEvent,
  FinishEvent,
  UsageEvent,
  OutputEvent,
} from '../../../canonical/canonical-event.js';
import type { EmbeddingVectors } from '../../../canonical/work-request.js';
/** An event that is the same on every replay. */
export type CachedEvent = ContentEvent | FinishEvent | UsageEvent | OutputEvent<EmbeddingVectors>;

/** The route that answered, as far as the caller may see it. */
export interface AnsweringRoute {
  readonly model: string;
  readonly provider: string;
  readonly catalogueId: string;
  readonly upstreamModel: string;
}

/** A complete answer as stored, with the pieces of each text joined. */
export interface CachedAnswer {
  readonly route: AnsweringRoute;
  readonly droppedParams: readonly string[];
  readonly events: readonly CachedEvent[];
}

/** A vector as its bytes in memory: exact and fast to read. */
interface PackedVector {
  float64: string;
}

/** A cached answer with packed vectors. */
interface StoredAnswer extends Omit<CachedAnswer, 'events'> {
  readonly events: readonly (
    | Exclude<CachedEvent, OutputEvent<EmbeddingVectors>>
    | OutputEvent<readonly (PackedVector | string)[]>
  )[];
}

export function encodeAnswer(answer: CachedAnswer): Buffer {
  const events = answer.events.map((event) =>
    event.type === 'output' ? { ...event, output: event.output.map(packVector) } : event,
  );
  return Buffer.from(JSON.stringify({ ...answer, events }));
}

/** Returns undefined for bytes that are not a stored answer. */
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
