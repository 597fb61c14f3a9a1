import { useEffect, useState, type ReactNode } from 'react';
import { TextInput } from './field';

const PAUSE_MS = 250;

/** A search that is told once the typing pauses. `/` leads to it. */
export function SearchInput({
  value,
  onSearch,
  placeholder,
}: {
  value: string;
  onSearch: (text: string) => void;
  placeholder?: string;
}): ReactNode {
  const [text, setText] = useState(value);
  useEffect(() => {
    if (text === value) return;
    const timer = setTimeout(() => onSearch(text), PAUSE_MS);
    return () => clearTimeout(timer);
    // What is typed counts; a new function of the same page says nothing new.
  }, [text]);
  return (
    <TextInput
      type="search"
      value={text}
      placeholder={placeholder}
      onChange={(event) => setText(event.target.value)}
    />
  );
}
