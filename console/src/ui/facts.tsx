import type { ReactNode } from 'react';
import './facts.css';

/** A list of labels and values. */
export function Facts({
  facts,
}: {
  facts: readonly (readonly [label: string, value: ReactNode])[];
}): ReactNode {
  return (
    <dl className="facts">
      {facts.map(([label, value]) => [
        <dt key={label}>{label}</dt>,
        <dd key={`${label} value`}>{value}</dd>,
      ])}
    </dl>
  );
}
