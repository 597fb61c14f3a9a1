import { useNavigate, useSearch } from '@tanstack/react-router';
import { useCallback, useMemo } from 'react';

type Filters<Name extends string> = Partial<Record<Name, string>>;

/**
 * What a page is set to, kept in its URL so that a link shows the same and a reload loses nothing.
 *
 * @param names those that the page knows; what else the URL says stays as it is
 * @returns what is set, and a function that changes some; undefined or '' takes one away
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
      // The list of a filter that is typed would fill the history letter by letter.
      void navigate({
        to: '.',
        search: (before: object) => ({ ...before, ...changes }),
        replace: true,
        // It is the same page; a button must not move away while it is pressed.
        resetScroll: false,
      });
    },
    [navigate],
  );
  return [filters, change];
}
