import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { api } from '../../api/client';
import { SelectField } from '../../ui';

/** Returns the current month in UTC, as `YYYY-MM`. */
export function thisMonth(): string {
  return new Date().toISOString().slice(0, 7);
}

/** Selects the current month or one with spend. */
export function MonthSelect({
  value,
  all,
  onChange,
}: {
  value: string;
  /** Label of a choice for all months, whose value is ''. */
  all?: string;
  onChange: (month: string) => void;
}): ReactNode {
  const months = useQuery({
    queryKey: ['statements'],
    queryFn: ({ signal }) => api.GET('/v1/customer/statements', { signal }),
    staleTime: 60_000,
  });
  const known = [thisMonth(), value, ...(months.data?.data ?? []).map(({ month }) => month)];
  const names = [...new Set(known)].filter((month) => month !== '').toSorted();
  return (
    <SelectField
      label="Month"
      value={value}
      options={[...(all === undefined ? [] : [['', all] as const]), ...names.toReversed()]}
      onChange={onChange}
    />
  );
}
