import type { ReactNode } from 'react';
import { formatCount, formatUsd } from '../format/credits';
import { formatDuration, formatTime, formatUtc } from '../format/times';

export type Tone = 'good' | 'bad' | 'warn' | 'neutral' | 'info';

/** Distinguishes badges without colour. */
const SIGN_OF: Record<Tone, string> = { good: '✓', bad: '✕', warn: '!', neutral: '', info: '' };

export function Badge({ tone, children }: { tone: Tone; children: ReactNode }): ReactNode {
  return (
    <span className={`badge tone-${tone}`}>
      {SIGN_OF[tone] !== '' && <span aria-hidden="true">{SIGN_OF[tone]}</span>}
      {children}
    </span>
  );
}

/** A timestamp in the viewer's zone, with UTC in the tooltip. */
export function Time({
  at,
  none = '–',
}: {
  at: string | null | undefined;
  none?: string;
}): ReactNode {
  if (at == null) return none;
  return (
    <time dateTime={at} title={formatUtc(at)}>
      {formatTime(at)}
    </time>
  );
}

export function Duration({ ms }: { ms: number | null | undefined }): ReactNode {
  return ms == null ? '–' : formatDuration(ms);
}

/** An amount in credits and US dollars. */
export function Credits({
  value,
  none = '–',
}: {
  value: number | null | undefined;
  none?: string;
}): ReactNode {
  if (value == null) return none;
  return (
    <span className="credits" data-credits={value}>
      {formatCount(value)} <small>{formatUsd(value)}</small>
    </span>
  );
}

/** The median, with the 90th percentile below. */
export function Spread({
  of: spread,
  format,
}: {
  of: { p50: number; p90: number } | null;
  format: (value: number) => string;
}): ReactNode {
  if (spread === null) return '–';
  return (
    <>
      {format(spread.p50)}
      <br />
      <small className="muted">p90 {format(spread.p90)}</small>
    </>
  );
}
