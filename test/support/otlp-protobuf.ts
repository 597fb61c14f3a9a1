import protobuf from 'protobufjs';

/** The part of OpenTelemetry's protocol that traces need, with its field numbers. */
const SCHEMA = `
syntax = "proto3";
message ExportTraceServiceRequest { repeated ResourceSpans resource_spans = 1; }
message ResourceSpans {
  Resource resource = 1; repeated ScopeSpans scope_spans = 2; string schema_url = 3;
}
message Resource { repeated KeyValue attributes = 1; uint32 dropped_attributes_count = 2; }
message ScopeSpans {
  InstrumentationScope scope = 1; repeated Span spans = 2; string schema_url = 3;
}
message InstrumentationScope {
  string name = 1; string version = 2;
  repeated KeyValue attributes = 3; uint32 dropped_attributes_count = 4;
}
message Span {
  bytes trace_id = 1; bytes span_id = 2; string trace_state = 3; bytes parent_span_id = 4;
  string name = 5; SpanKind kind = 6;
  fixed64 start_time_unix_nano = 7; fixed64 end_time_unix_nano = 8;
  repeated KeyValue attributes = 9; uint32 dropped_attributes_count = 10;
  repeated Event events = 11; uint32 dropped_events_count = 12;
  repeated Link links = 13; uint32 dropped_links_count = 14;
  Status status = 15; fixed32 flags = 16;
}
message Event { fixed64 time_unix_nano = 1; string name = 2; repeated KeyValue attributes = 3; }
message Link { bytes trace_id = 1; bytes span_id = 2; string trace_state = 3; }
message Status { string message = 2; StatusCode code = 3; }
enum StatusCode { STATUS_UNSET = 0; STATUS_OK = 1; STATUS_ERROR = 2; }
enum SpanKind { UNSPECIFIED = 0; INTERNAL = 1; SERVER = 2; CLIENT = 3; PRODUCER = 4; CONSUMER = 5; }
message KeyValue { string key = 1; AnyValue value = 2; }
message AnyValue {
  oneof value {
    string string_value = 1; bool bool_value = 2; int64 int_value = 3; double double_value = 4;
    ArrayValue array_value = 5; bytes bytes_value = 7;
  }
}
message ArrayValue { repeated AnyValue values = 1; }
`;

const TRACES = protobuf.parse(SCHEMA).root.lookupType('ExportTraceServiceRequest');

/** JSON encodes these ids in hexadecimal, unlike protobuf's standard mapping. */
const IDS = new Set(['traceId', 'spanId', 'parentSpanId']);

/** Decodes a protobuf request into plain values. */
export function decodeProtobufTraces(bytes: Uint8Array): object {
  return TRACES.toObject(TRACES.decode(bytes), { longs: String, bytes: String, enums: Number });
}

/** Decodes a JSON request through protobuf's messages; drops what they cannot hold. */
export function decodeJsonTraces(text: string): object {
  const request = JSON.parse(text, (name, value: unknown) =>
    IDS.has(name) ? Buffer.from(String(value), 'hex') : value,
  ) as Record<string, unknown>;
  return decodeProtobufTraces(TRACES.encode(TRACES.fromObject(request)).finish());
}
