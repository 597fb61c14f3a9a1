import { useEffect, type ReactNode } from 'react';
import type { Tone } from './values';

/** The frame of a page. Also sets the document title. */
export function Page({
  title,
  description,
  actions,
  children,
}: {
  title: string;
  description?: ReactNode;
  actions?: ReactNode;
  children: ReactNode;
}): ReactNode {
  useEffect(() => {
    document.title = `${title} · Model Gateway`;
  }, [title]);
  return (
    <div className="page">
      <div className="page-head">
        <div>
          <h1>{title}</h1>
          {description !== undefined && <p>{description}</p>}
        </div>
        {actions !== undefined && <div className="row">{actions}</div>}
      </div>
      {children}
    </div>
  );
}

export function Card({
  title,
  actions,
  children,
}: {
  title?: ReactNode;
  actions?: ReactNode;
  children: ReactNode;
}): ReactNode {
  return (
    <section className="card">
      {(title !== undefined || actions !== undefined) && (
        <div className="card-head">
          <h2>{title}</h2>
          {actions !== undefined && <div className="row">{actions}</div>}
        </div>
      )}
      <div className="card-body">{children}</div>
    </section>
  );
}

/** A row of `Stat`s. */
export function Stats({ children }: { children: ReactNode }): ReactNode {
  return <dl className="stats">{children}</dl>;
}

/** A single figure. Tests use `id` to compare it with the ledger. */
export function Stat({
  label,
  value,
  hint,
  id,
}: {
  label: string;
  value: ReactNode;
  hint?: ReactNode;
  id?: string;
}): ReactNode {
  return (
    <div className="stat" data-stat={id}>
      <dt>{label}</dt>
      <dd>{value}</dd>
      {hint !== undefined && <dd className="stat-hint">{hint}</dd>}
    </div>
  );
}

/** A persistent message. */
export function Notice({ tone, children }: { tone: Tone; children: ReactNode }): ReactNode {
  return (
    <div className={`notice tone-${tone}`} role={tone === 'bad' ? 'alert' : 'status'}>
      {children}
    </div>
  );
}

/** Shown in place of an empty list: what appears here and how to start. */
export function EmptyState({
  title,
  children,
}: {
  title: string;
  children?: ReactNode;
}): ReactNode {
  return (
    <div className="empty">
      <strong>{title}</strong>
      {children}
    </div>
  );
}

/** A meter that shows `used` out of `of`. */
export function Bar({ used, of, label }: { used: number; of: number; label: string }): ReactNode {
  const share = of > 0 ? Math.min(1, Math.max(0, used / of)) : 1;
  const tone = share >= 1 ? 'bad' : share >= 0.8 ? 'warn' : undefined;
  return (
    <div
      className="bar"
      role="meter"
      aria-label={label}
      aria-valuemin={0}
      aria-valuemax={of}
      aria-valuenow={Math.min(used, of)}
      data-tone={tone}
    >
      <span style={{ width: `${share * 100}%` }} />
    </div>
  );
}
