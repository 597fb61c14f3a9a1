import type { ComponentProps, ReactNode } from 'react';
import { formatUsd } from '../format/credits';
import { NumberField } from '../ui';

/** An amount in credits, with its value in US dollars. */
export function CreditsField({
  label,
  value,
  onChange,
  error,
  hint,
  ...bounds
}: {
  label: string;
  /** As typed. */
  value: string;
  onChange: (value: string) => void;
  error?: string | undefined;
  hint?: string;
  min?: number;
  required?: boolean;
}): ReactNode {
  const credits = readCredits(value);
  const usd = credits === null ? '1,000,000 credits are $1.00' : formatUsd(credits);
  return (
    <NumberField
      label={label}
      error={error}
      hint={hint === undefined ? usd : `${usd} · ${hint}`}
      value={value}
      step={1}
      {...bounds}
      onChange={onChange}
    />
  );
}

/** A monthly spend limit. */
export function MonthlyLimitField(
  props: Omit<ComponentProps<typeof CreditsField>, 'label' | 'hint'>,
): ReactNode {
  return <CreditsField label="Monthly spend limit" hint="empty: no limit" {...props} />;
}

/** Parses typed credits; null for empty or invalid text. */
export function readCredits(text: string): number | null {
  const value = Number(text);
  return text.trim() === '' || !Number.isFinite(value) ? null : value;
}
