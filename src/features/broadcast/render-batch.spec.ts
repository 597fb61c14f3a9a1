import { describe, expect, it } from '@jest/globals';
import { ProtobufTraceSerializer } from '@opentelemetry/otlp-transformer';
import { decodeJsonTraces, decodeProtobufTraces } from '../../../test/support/otlp-protobuf.js';
import { draftSpans } from '../../core/tracing/draft-spans.js';
import type { RecordedTrace } from '../../core/tracing/recorded-trace.js';
import { toSpans, TENANT_RESOURCE } from '../../core/tracing/to-spans.js';
import { renderBatch } from './render-batch.js';
import { testTrace } from './test-trace.js';
import { TraceBatch } from './trace-batch.js';

/** A trace with every type of value, a parent and a failed attempt. */
function fullTrace(): RecordedTrace {
  const trace = testTrace('t');
  const [attempt] = trace.attempts;
  return {
    ...trace,
    context: { ...trace.context, parentSpanId: 'b7ad6b7169203331', traceState: 'a=1,b=2' },
    fields: {
      name: 'Ünï\nname',
      attributes: { text: '"\u2028', whole: 2 ** 53 - 1, negative: -1, part: 0.1, yes: true },
    },
    attempts: [{ ...attempt!, outcome: 'rate_limited', status: 429 }, attempt!],
  };
}

describe(renderBatch.name, () => {
  it("matches OpenTelemetry's protobuf encoding of the same spans", async () => {
    const drafts = draftSpans(fullTrace(), { audience: 'tenant', includeContent: false });
    const batch = new TraceBatch(['d']);
    batch.add(JSON.stringify(drafts));
    const json = await renderBatch(batch.serialize(), { includesContent: true });
    const bytes = ProtobufTraceSerializer.serializeRequest(toSpans(drafts, TENANT_RESOURCE));
    const decoded = decodeJsonTraces(json.toString());
    expect(decoded).toEqual(decodeProtobufTraces(bytes!));
    expect(JSON.stringify(decoded)).toContain('rate_limited');
  });

  it('omits content for receivers that no longer get it', async () => {
    const trace = fullTrace();
    const spans = draftSpans(trace, { audience: 'tenant', includeContent: false });
    const attributes = { ...spans[0]!.attributes, 'gen_ai.input.messages': '[{"a":"secret"}]' };
    const batch = new TraceBatch(['d']);
    batch.add(JSON.stringify([{ ...spans[0]!, attributes }]));
    const texts = await Promise.all(
      [true, false].map((includesContent) => renderBatch(batch.serialize(), { includesContent })),
    );
    expect(texts.map((text) => text.includes('secret'))).toEqual([true, false]);
    expect(texts.every((text) => text.includes('gen_ai.usage.input_tokens'))).toBe(true);
  });
});
