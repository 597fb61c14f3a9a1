import { setImmediate as nextTurn } from 'node:timers/promises';
import { JsonTraceSerializer } from '@opentelemetry/otlp-transformer';
import { withoutContent, type SpanDraft } from '../../core/tracing/span-draft.js';
import { toSpans, TENANT_RESOURCE } from '../../core/tracing/to-spans.js';
/** Frames the list of `ResourceSpans`. */
const HEAD = Buffer.from('{"resourceSpans":[');
const TAIL = Buffer.from(']}');
const COMMA = Buffer.from(',');
const NEW_LINE = 0x0a;

/** Rendering yields to other requests after this long, plus the current trace. */
const SLICE_MS = 1;

export interface RenderOptions {
  /** True when content stays in. The destination may have opted out since. */
  readonly includesContent: boolean;
}

/**
 * Renders a `TraceBatch` as an `ExportTraceServiceRequest` in JSON. Yields regularly, since a
 * large batch takes as long as several requests.
 */
export async function renderBatch(
  written: Buffer,
  { includesContent }: RenderOptions,
): Promise<Buffer> {
  const pieces: Buffer[] = [HEAD];
  let sliceEndsAtMs = performance.now() + SLICE_MS;
  for (let start = 0; start < written.length;) {
    if (performance.now() > sliceEndsAtMs) {
      await nextTurn();
      sliceEndsAtMs = performance.now() + SLICE_MS;
    }
    const found = written.indexOf(NEW_LINE, start);
    const end = found < 0 ? written.length : found;
    if (start > 0) pieces.push(COMMA);
    const drafts = JSON.parse(written.toString('utf8', start, end)) as SpanDraft[];
    pieces.push(renderTrace(includesContent ? drafts : withoutContent(drafts)));
    start = end + 1;
  }
  pieces.push(TAIL);
  return Buffer.concat(pieces);
}

/** Returns the `ResourceSpans` of one trace. */
function renderTrace(drafts: readonly SpanDraft[]): Buffer {
  const bytes = JsonTraceSerializer.serializeRequest(toSpans(drafts, TENANT_RESOURCE));
  if (!bytes) throw new Error('spans could not be serialized');
  const request = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const end = request.length - TAIL.length;
  if (!request.subarray(0, HEAD.length).equals(HEAD) || !request.subarray(end).equals(TAIL)) {
    throw new Error('unexpected request format');
  }
  return request.subarray(HEAD.length, end);
}
