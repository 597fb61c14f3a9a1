import type { ReactNode } from 'react';
import type { Change } from './changes-between';

/** A table of values before and after a change. */
export function Changes({
  caption,
  changes,
  empty,
}: {
  caption: string;
  changes: readonly Change[];
  empty: string;
}): ReactNode {
  if (changes.length === 0) return <p className="muted">{empty}</p>;
  return (
    <div className="table-frame" tabIndex={0} role="region" aria-label={caption}>
      <table className="table">
        <caption className="visually-hidden">{caption}</caption>
        <thead>
          <tr>
            <th scope="col">Value</th>
            <th scope="col">Before</th>
            <th scope="col">After</th>
          </tr>
        </thead>
        <tbody>
          {changes.map(({ path, before, after }) => (
            <tr key={path}>
              <th scope="row" className="mono">
                {path}
              </th>
              <td>{before === undefined ? '–' : <del className="before">{textOf(before)}</del>}</td>
              <td>{after === undefined ? '–' : <ins className="after">{textOf(after)}</ins>}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
