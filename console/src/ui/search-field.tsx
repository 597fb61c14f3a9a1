import { useEffect, useEffectEvent, useState, type ReactNode } from 'react';
import { TextField } from './field';

const PAUSE_MS = 250;

/** A search with its label, which is told once the typing pauses. `/` leads to it. */
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
  /** `told`: what the page knows, or will know in a moment. */
  const [{ text, told, known }, setState] = useState({ text: value, told: value, known: value });
  if (value !== known) {
    // Set from elsewhere, unless it is what was told: more may be typed by then.
    setState({ text: value === told ? text : value, told: value, known: value });
  }
  const tell = useEffectEvent(onSearch);
  useEffect(() => {
    if (text === told) return;
    const timer = setTimeout(() => {
      setState((before) => ({ ...before, told: text }));
      tell(text);
    }, PAUSE_MS);
    return () => clearTimeout(timer);
  }, [text, told]);
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
