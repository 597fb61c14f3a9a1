import { useEffect, useRef, type ReactNode } from 'react';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { axisTimeOf, isDays } from '../format/times';

interface ChartSeries {
  label: string;
  /** One per time; null without data. */
  values: readonly (number | null)[];
  /** Marks a forecast. */
  dashed?: boolean;
}

export interface ChartProps {
  title: string;
  /** ISO 8601, ascending. */
  times: readonly string[];
  series: readonly ChartSeries[];
  /** Formats values on the axis and in the table. */
  format: (value: number) => string;
  /** Stacks the series. */
  stacked?: boolean;
}

/** `onPoint` receives the index under the pointer, or null when it leaves. */
interface PlotProps extends ChartProps {
  onPoint: (index: number | null) => void;
}

const HEIGHT_PX = 200;
/** Minimum distance between time labels. */
const LABEL_WIDTH_PX = 75;
/** With fewer values than this a line may be invisible, so points are drawn. */
const FEW_VALUES = 3;

/** Draws a chart that follows its container's width and the page's theme. */
export function Plot({ times, series, format, onPoint, stacked = false }: PlotProps): ReactNode {
  const frame = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const element = frame.current;
    if (!element) return;
    let plot: uPlot | undefined;
    const draw = () => {
      plot?.destroy();
      plot = new uPlot(
        options(element, { times, series, format, stacked, onPoint }),
        dataOf(times, series, stacked),
        element,
      );
    };
    draw();
    const onResize = new ResizeObserver(() => {
      plot?.setSize({ width: element.clientWidth, height: HEIGHT_PX });
    });
    onResize.observe(element);
    const scheme = matchMedia('(prefers-color-scheme: dark)');
    scheme.addEventListener('change', draw);
    const theme = new MutationObserver(draw);
    theme.observe(document.documentElement, { attributeFilter: ['data-theme'] });
    return () => {
      onResize.disconnect();
      theme.disconnect();
      scheme.removeEventListener('change', draw);
      plot?.destroy();
    };
  }, [times, series, format, stacked, onPoint]);
  return <div ref={frame} />;
}

function dataOf(
  times: ChartProps['times'],
  series: ChartProps['series'],
  stacked: boolean,
): uPlot.AlignedData {
  const seconds = times.map((time) => Date.parse(time) / 1_000);
  if (!stacked) return [seconds, ...series.map(({ values }) => [...values])];
  const sums = seconds.map(() => 0);
  const stack = series.map(({ values }) =>
    values.map((value, index) => (sums[index] = (sums[index] ?? 0) + (value ?? 0))),
  );
  return [seconds, ...stack];
}

function options(
  element: HTMLElement,
  { times, series, format, stacked, onPoint }: Omit<PlotProps, 'title'>,
): uPlot.Options {
  // A canvas cannot resolve CSS variables, so a probe element does.
  const probe = document.createElement('span');
  element.append(probe);
  const colour = (name: string) => {
    probe.style.color = `var(${name})`;
    return getComputedStyle(probe).color;
  };
  const axis = { stroke: colour('--muted'), grid: { stroke: colour('--border'), width: 1 } };
  const lines = series.map(({ label, values, dashed }, index) => {
    const stroke = colour(`--series-${(index % 6) + 1}`);
    const fill = stroke.replace(/^rgb\((.*)\)$/, `rgba($1, ${stacked ? 0.3 : 0.14})`);
    return {
      label,
      stroke,
      width: 2,
      ...(dashed ? { dash: [6, 5] } : {}),
      points: { show: values.filter((value) => value !== null).length <= FEW_VALUES },
      ...(stacked || index === 0 ? { fill } : {}),
    };
  });
  probe.remove();
  return {
    width: element.clientWidth,
    height: HEIGHT_PX,
    legend: { show: false },
    cursor: { y: false, drag: { x: false, y: false } },
    hooks: { setCursor: [({ cursor }) => onPoint(cursor.idx ?? null)] },
    // UTC, so that each day sits at its own name in any time zone.
    ...(isDays(times) ? { tzDate: (at) => uPlot.tzDate(new Date(at * 1_000), 'Etc/UTC') } : {}),
    // Fills each stacked series down to the one below.
    ...(stacked
      ? { bands: series.slice(1).map((_, index) => ({ series: [index + 2, index + 1] as const })) }
      : {}),
    scales: { y: { range: (_, __, max) => [0, max > 0 ? max * 1.05 : 1] } },
    axes: [
      { ...axis, space: LABEL_WIDTH_PX, values: (_, ticks) => ticks.map(axisTimeOf(times)) },
      { ...axis, size: 78, values: (_, ticks) => ticks.map(format) },
    ],
    series: [{}, ...lines],
  };
}
