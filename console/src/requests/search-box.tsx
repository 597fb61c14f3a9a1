import { useState, type ReactNode } from 'react';
import { TextField } from '../ui';
import type { RequestFilters } from './request-filters';
import { parseSearch } from './search-terms';

/**
 * A search box for typed filters. Enter applies them to the filter controls.
 *
 * @param onOpen opens a request by its id; undefined where an id alone does not identify a request
 */
export function SearchBox({
  onChange,
  onOpen,
}: {
  onChange: (changes: RequestFilters) => void;
  onOpen: ((requestId: string) => void) | undefined;
}): ReactNode {
  const [text, setText] = useState('');
  const [unknown, setUnknown] = useState<readonly string[]>([]);
  const search = () => {
    const { filters, requestId, unknown: terms } = parseSearch(text);
    if (Object.keys(filters).length > 0) onChange(filters);
    if (requestId !== undefined && onOpen) onOpen(requestId);
    const notUnderstood = requestId === undefined || onOpen ? terms : [...terms, requestId];
    setUnknown(notUnderstood);
    setText(notUnderstood.join(' '));
  };
  return (
    <TextField
      label="Search"
      error={
        unknown.length > 0 &&
        `Unknown filter: ${unknown.join(' ')}. Use model:, provider:, endpoint:, key:, tag:, user:, status:, cost: or last:.`
      }
      type="search"
      spellCheck={false}
      placeholder={
        onOpen
          ? 'model:… status:error user:… cost:>100 last:24h, or a request id'
          : 'model:… status:error tenant:… cost:>100 last:24h'
      }
      value={text}
      onKeyDown={(event) => event.key === 'Enter' && search()}
      onChange={setText}
    />
  );
}
