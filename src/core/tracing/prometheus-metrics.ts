import { ValueType, type Attributes, type HrTime } from '@opentelemetry/api';
import {
  AggregationTemporality,
  DataPointType,
  type DataPoint,
  type Histogram,
  type MetricData,
} from '@opentelemetry/sdk-metrics';
import type { MetricObjectWithValues, MetricValue } from 'prom-client';

export type PrometheusMetric = MetricObjectWithValues<MetricValue<string>>;

/** A histogram value with its series: bucket, sum or count. */
interface NamedValue extends MetricValue<string> {
  metricName?: string;
}

interface Span {
  startTime: HrTime;
  endTime: HrTime;
}

/**
 * Converts the metrics of `/metrics` to OpenTelemetry's format, except summaries, which it lacks.
 */
export function toMetricData(metrics: readonly PrometheusMetric[], span: Span): MetricData[] {
  return metrics.flatMap((metric): MetricData[] => {
    const common = {
      descriptor: {
        name: metric.name,
        description: metric.help,
        unit: '',
        valueType: ValueType.DOUBLE,
      },
      aggregationTemporality: AggregationTemporality.CUMULATIVE,
    };
    // The types declare prom-client's enum, but the values are strings.
    switch (String(metric.type)) {
      case 'counter': {
        const dataPoints = pointsOf(metric.values, span);
        return [{ ...common, dataPointType: DataPointType.SUM, isMonotonic: true, dataPoints }];
      }
      case 'gauge': {
        const dataPoints = pointsOf(metric.values, span);
        return [{ ...common, dataPointType: DataPointType.GAUGE, dataPoints }];
      }
      case 'histogram': {
        const dataPoints = histogramsOf(metric.values, span);
        return [{ ...common, dataPointType: DataPointType.HISTOGRAM, dataPoints }];
      }
      default:
        return [];
    }
  });
}

function pointsOf(values: readonly MetricValue<string>[], span: Span): DataPoint<number>[] {
  return values.map(({ labels, value }) => ({ ...span, attributes: labels, value }));
}

function histogramsOf(values: readonly NamedValue[], span: Span): DataPoint<Histogram>[] {
  const series = new Map<string, { labels: Attributes; values: NamedValue[] }>();
  for (const value of values) {
    const labels: Attributes = { ...value.labels };
    delete labels.le;
    const key = JSON.stringify(labels);
    const known = series.get(key) ?? { labels, values: [] };
    known.values.push(value);
    series.set(key, known);
  }
  return [...series.values()].map(({ labels, values: own }) => ({
    ...span,
    attributes: labels,
    value: toHistogram(own),
  }));
}

/** Prometheus buckets are cumulative, OpenTelemetry's are not. */
function toHistogram(values: readonly NamedValue[]): Histogram {
  const figure = (suffix: string): number =>
    values.find(({ metricName }) => metricName?.endsWith(suffix))?.value ?? 0;
  const buckets = values
    .filter(({ labels }) => labels.le !== undefined && labels.le !== '+Inf')
    .map(({ labels, value }) => ({ bound: Number(labels.le), below: value }))
    .sort((one, other) => one.bound - other.bound);
  const count = figure('_count');
  const counts = buckets.map(({ below }, index) => below - (buckets[index - 1]?.below ?? 0));
  counts.push(count - (buckets.at(-1)?.below ?? 0));
  return {
    buckets: { boundaries: buckets.map(({ bound }) => bound), counts },
    sum: figure('_sum'),
    count,
  };
}
