import { useEffect, useEffectEvent, useState, type ReactNode } from 'react';
import { TextField } from './field';

const PAUSE_MS = 250;

/** A search field that searches after a pause in typing. `/` focuses it. */
export function SearchField({
  label,
  value,
  onSearch,
  placeholder,
}: {
  label: string;
  value: string;
  onSearch: (text: string) => void;
  placeholder?: string | undefined;
}): ReactNode {
  /** `sent`: the text last passed to the page. `known`: the page's value at the last render. */
  const [{ text, sent, known }, setState] = useState({ text: value, sent: value, known: value });
  if (value !== known) {
    // Ignores the echo of our own search, since more may have been typed.
    setState({ text: value === sent ? text : value, sent: value, known: value });
  }
  const search = useEffectEvent(onSearch);
  useEffect(() => {
    if (text === sent) return;
    const timer = setTimeout(() => {
      setState((before) => ({ ...before, sent: text }));
      search(text);
    }, PAUSE_MS);
    return () => clearTimeout(timer);
  }, [text, sent]);
  return (
    <TextField
      label={label}
      type="search"
      value={text}
      placeholder={placeholder}
      onChange={(typed) => setState((before) => ({ ...before, text: typed }))}
    />
  );
}
