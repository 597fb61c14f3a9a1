import { lazy, Suspense, type ReactNode } from 'react';
import { formatDay, formatUtc } from '../format/times';
import { Skeleton } from './query-state';

export interface ChartSeries {
  label: string;
  /** One for each time; null where there is nothing. */
  values: readonly (number | null)[];
}

export interface ChartProps {
  title: string;
  /** ISO 8601, ascending. */
  times: readonly string[];
  series: readonly ChartSeries[];
  /** How a value is written on the axis and in the table. */
  format: (value: number) => string;
  /** Series lie on top of each other and add up. */
  stacked?: boolean;
}

const Plot = lazy(() => import('./plot').then(({ Plot: component }) => ({ default: component })));

/** Values over time: a plot for eyes, a table for screen readers. */
export function Chart(props: ChartProps): ReactNode {
  const { title, times, series, format } = props;
  return (
    <figure className="chart" aria-label={title}>
      <div aria-hidden="true" className="chart-plot">
        <Suspense fallback={<Skeleton />}>
          <Plot {...props} />
        </Suspense>
      </div>
      <div className="chart-legend" aria-hidden="true">
        {series.map(({ label }, index) => (
          <span key={label} style={{ '--series': `var(--series-${(index % 6) + 1})` } as object}>
            {label}
          </span>
        ))}
      </div>
      {/* A table is never lower than its rows, so it is a frame that hides it. */}
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
                  {formatDay(time)}
                </th>
                {series.map(({ label, values }) => {
                  const value = values[row];
                  return <td key={label}>{value == null ? '–' : format(value)}</td>;
                })}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </figure>
  );
}
