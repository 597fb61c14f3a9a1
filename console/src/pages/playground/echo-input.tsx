import {
  useCallback,
  useEffect,
  useRef,
  useState,
  type ComponentProps,
  type ReactNode,
} from 'react';
import { TextInput } from '../../ui';

const PAUSE_MS = 250;

/** An input that updates the URL after a pause in typing, because navigation is too slow for each letter. */
export function EchoInput({
  value,
  onText,
  ...props
}: Omit<ComponentProps<typeof TextInput>, 'value' | 'onChange' | 'onBlur'> & {
  value: string;
  onText: (text: string) => void;
}): ReactNode {
  const [text, setText] = useState(value);
  const sent = useRef(value);
  useEffect(() => {
    if (value === sent.current) return;
    sent.current = value;
    setText(value);
  }, [value]);
  const flush = useCallback(() => {
    if (text === sent.current) return;
    sent.current = text;
    onText(text);
  }, [text, onText]);
  useEffect(() => {
    const timer = setTimeout(flush, PAUSE_MS);
    return () => clearTimeout(timer);
  }, [flush]);
  return (
    <TextInput
      {...props}
      value={text}
      onChange={({ target }) => setText(target.value)}
      onBlur={flush}
    />
  );
}
