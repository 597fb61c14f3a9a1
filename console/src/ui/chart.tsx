import { lazy, Suspense, useState, type ReactNode } from 'react';
import { formatUtc, timeFormatOf } from '../format/times';
import { Card } from './layout';
import type { ChartProps } from './plot';
import { Skeleton } from './query-state';

const loadPlot = () => import('./plot');
const Plot = lazy(() => loadPlot().then(({ Plot: component }) => ({ default: component })));

/** Preloads the chart library while a page waits for its data. */
export function preloadChart(): void {
  loadPlot().catch(() => undefined);
}

/**
 * A time series: a plot with a legend that shows the values under the pointer, and a table for screen readers.
 * Days are named in UTC, other times in the viewer's zone.
 */
export function Chart(props: ChartProps): ReactNode {
  const { title, times, series, format } = props;
  const [pointed, setPointed] = useState<number | null>(null);
  const formatAt = timeFormatOf(times);
  const at = pointed === null ? undefined : times[pointed];
  return (
    <figure className="chart" aria-label={title}>
      <div aria-hidden="true" className="chart-plot">
        <Suspense fallback={<Skeleton />}>
          <Plot {...props} onPoint={setPointed} />
        </Suspense>
      </div>
      <div className="chart-legend" aria-hidden="true">
        {series.map(({ label, values }, index) => (
          <span
            key={label}
            className="chart-series"
            style={{ '--series': `var(--series-${(index % 6) + 1})` } as object}
          >
            {label}
            {pointed !== null && <strong>{writeValue(values[pointed], format)}</strong>}
          </span>
        ))}
        {at !== undefined && <span className="muted">{formatAt(at)}</span>}
      </div>
      {/* Tables ignore a height below that of their rows, so the wrapper hides this one. */}
      <div className="visually-hidden">
        <table>
          <caption>{title}</caption>
          <thead>
            <tr>
              <th scope="col">Time</th>
              {series.map(({ label }) => (
                <th key={label} scope="col">
                  {label}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {times.map((time, row) => (
              <tr key={time}>
                <th scope="row" title={formatUtc(time)}>
                  {formatAt(time)}
                </th>
                {series.map(({ label, values }) => (
                  <td key={label}>{writeValue(values[row], format)}</td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </figure>
  );
}

/** A chart in a card with the same title. */
export function ChartCard(props: ChartProps): ReactNode {
  return (
    <Card title={props.title}>
      <Chart {...props} />
    </Card>
  );
}

function writeValue(value: number | null | undefined, format: ChartProps['format']): string {
  return value == null ? '–' : format(value);
}
