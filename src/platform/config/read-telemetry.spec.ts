import { describe, expect, it } from '@jest/globals';
import { loadConfig } from './load-config.js';

const telemetryOf = (environment: Record<string, string>) => loadConfig(environment, []).telemetry;

describe('the telemetry settings', () => {
  it('are undefined without an endpoint, or when disabled', () => {
    expect(telemetryOf({ OTEL_SERVICE_NAME: 'a' })).toBeUndefined();
    const endpoint = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://c:4318' };
    for (const disabled of ['true', 'TRUE', 'True']) {
      expect(telemetryOf({ ...endpoint, OTEL_SDK_DISABLED: disabled })).toBeUndefined();
    }
    expect(telemetryOf({ ...endpoint, OTEL_SDK_DISABLED: 'False' })).toBeDefined();
    expect(
      telemetryOf({ ...endpoint, OTEL_TRACES_EXPORTER: 'none', OTEL_METRICS_EXPORTER: 'none' }),
    ).toBeUndefined();
  });

  it('append the signal to a common endpoint and use a signal’s own unchanged', () => {
    expect(
      telemetryOf({
        OTEL_EXPORTER_OTLP_ENDPOINT: 'http://c:4318/',
        OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: 'http://m:1/push',
        OTEL_EXPORTER_OTLP_HEADERS: 'a=1,b=two%20words',
        OTEL_EXPORTER_OTLP_TRACES_HEADERS: 'a=3',
        OTEL_RESOURCE_ATTRIBUTES: 'service.name=no,x=y',
        OTEL_SERVICE_NAME: 'yes',
      }),
    ).toEqual({
      tracesUrl: 'http://c:4318/v1/traces',
      metricsUrl: 'http://m:1/push',
      tracesHeaders: { a: '3', b: 'two words' },
      metricsHeaders: { a: '1', b: 'two words' },
      metricsIntervalMs: 60_000,
      sampler: { followsParent: true, ratio: 1 },
      resource: { 'service.name': 'yes', x: 'y' },
    });
  });

  it.each([
    ['always_off', '0.5', { followsParent: false, ratio: 0 }],
    ['traceidratio', '0.5', { followsParent: false, ratio: 0.5 }],
    ['parentbased_traceidratio', '0.25', { followsParent: true, ratio: 0.25 }],
    ['parentbased_always_off', '1', { followsParent: true, ratio: 0 }],
  ])('read the sampler %s of %s', (name, ratio, sampler) => {
    const found = telemetryOf({
      OTEL_EXPORTER_OTLP_ENDPOINT: 'http://c:4318',
      OTEL_TRACES_SAMPLER: name,
      OTEL_TRACES_SAMPLER_ARG: ratio,
    });
    expect(found?.sampler).toEqual(sampler);
  });

  it.each([
    ['OTEL_TRACES_SAMPLER', 'some'],
    ['OTEL_TRACES_SAMPLER_ARG', '2'],
    ['OTEL_EXPORTER_OTLP_ENDPOINT', 'collector:4318'],
    ['OTEL_EXPORTER_OTLP_HEADERS', 'no pair'],
    ['OTEL_EXPORTER_OTLP_HEADERS', 'two words=1'],
    ['OTEL_EXPORTER_OTLP_TRACES_HEADERS', 'a=1%0d%0ab: 2'],
    ['OTEL_EXPORTER_OTLP_PROTOCOL', 'grpc'],
    ['OTEL_EXPORTER_OTLP_TRACES_PROTOCOL', 'grpc'],
    ['OTEL_EXPORTER_OTLP_METRICS_PROTOCOL', 'http/json'],
    ['OTEL_SDK_DISABLED', 'yes'],
    ['OTEL_RESOURCE_ATTRIBUTES', 'a=%'],
  ])('stop the start with %s=%s', (name, value) => {
    expect(() => loadConfig({ [name]: value }, [])).toThrow(name);
  });
});
