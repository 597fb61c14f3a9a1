import { useNavigate, useSearch } from '@tanstack/react-router';
import { useCallback, useMemo } from 'react';

type Filters<Name extends string> = Partial<Record<Name, string>>;

/**
 * Holds a page's filters in its URL, so that links and reloads keep them.
 *
 * @param names filters that the page uses; other query parameters are kept
 * @returns the filters that are set, and a function to change some; undefined or '' removes one
 */
export function useFilters<Name extends string>(
  names: readonly Name[],
): [Filters<Name>, (changes: Filters<Name>) => void] {
  const search: Record<string, unknown> = useSearch({ strict: false });
  const navigate = useNavigate();
  const key = names.join();
  const filters = useMemo(() => {
    const set: Filters<Name> = {};
    for (const name of key.split(',') as Name[]) {
      const value = search[name];
      if (typeof value === 'string' && value !== '') set[name] = value;
    }
    return set;
  }, [search, key]);
  const change = useCallback(
    (changes: Filters<Name>) => {
      // Replaces the history entry: typing would otherwise add one per letter.
      void navigate({
        to: '.',
        search: (before: object) => ({ ...before, ...changes }),
        replace: true,
        // Keeps the pressed button in place.
        resetScroll: false,
      });
    },
    [navigate],
  );
  return [filters, change];
}
