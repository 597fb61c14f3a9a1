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

/** An input whose text goes to the URL once the typing pauses: that takes too long for each letter. */
export function EchoInput({
  value,
  onText,
  ...props
}: Omit<ComponentProps<typeof TextInput>, 'value' | 'onChange' | 'onBlur'> & {
  value: string;
  onText: (text: string) => void;
}): ReactNode {
  const [text, setText] = useState(value);
  const told = useRef(value);
  useEffect(() => {
    if (value === told.current) return;
    told.current = value;
    setText(value);
  }, [value]);
  const flush = useCallback(() => {
    if (text === told.current) return;
    told.current = text;
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
