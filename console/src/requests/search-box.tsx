import { useState, type ReactNode } from 'react';
import { TextField } from '../ui';
import type { RequestFilters } from './request-filters';
import { parseSearch } from './search-terms';

/**
 * Filters that are typed; they are set on Enter, and then stand in the controls of the form.
 *
 * @param onOpen shows a request by its id; undefined: that takes more than an id
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
    const { filters, requestId, unknown: rest } = parseSearch(text);
    if (Object.keys(filters).length > 0) onChange(filters);
    if (requestId !== undefined && onOpen) onOpen(requestId);
    const left = requestId === undefined || onOpen ? rest : [...rest, requestId];
    setUnknown(left);
    setText(left.join(' '));
  };
  return (
    <TextField
      label="Find"
      error={
        unknown.length > 0 &&
        `Not understood: ${unknown.join(' ')}. Words are model: provider: kind: key: tag: user: status: cost: last:`
      }
      type="search"
      spellCheck={false}
      placeholder={
        onOpen
          ? 'model:… status:error user:… cost:>100 last:24h, or a request’s id'
          : 'model:… status:error tenant:… cost:>100 last:24h'
      }
      value={text}
      onKeyDown={(event) => event.key === 'Enter' && search()}
      onChange={setText}
    />
  );
}
