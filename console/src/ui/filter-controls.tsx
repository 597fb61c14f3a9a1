import { useId, useState, type ReactNode } from 'react';
import { Field, SelectField, TextInput, valueOf, type Option } from './field';

/** A filter of which one value is chosen; `any` is said of none, which is ''. */
export function Choice({
  label,
  value,
  options,
  onChange,
  any = 'Any',
}: {
  label: string;
  value: string;
  options: readonly Option[];
  onChange: (value: string) => void;
  any?: string;
}): ReactNode {
  // A link may name what is no longer among the values.
  const isListed = value === '' || options.some((option) => valueOf(option) === value);
  return (
    <SelectField
      label={label}
      value={value}
      options={[['', any], ...(isListed ? [] : [value]), ...options]}
      onChange={onChange}
    />
  );
}

/** A filter that is typed. It is told once it is complete: on Enter, or when the field is left. */
export function Typed({
  label,
  value,
  type = 'text',
  suggestions = [],
  onChange,
}: {
  label: string;
  value: string;
  type?: 'text' | 'number';
  suggestions?: readonly string[];
  onChange: (value: string) => void;
}): ReactNode {
  const listId = useId();
  const [text, setText] = useState(value);
  const [known, setKnown] = useState(value);
  if (known !== value) {
    // It was changed elsewhere, as by "Clear filters".
    setKnown(value);
    setText(value);
  }
  const tell = () => {
    if (text.trim() !== value) onChange(text.trim());
  };
  return (
    <Field label={label}>
      <TextInput
        type={type}
        list={suggestions.length > 0 ? listId : undefined}
        inputMode={type === 'number' ? 'numeric' : undefined}
        min={type === 'number' ? 0 : undefined}
        placeholder="Any"
        value={text}
        onChange={(event) => setText(event.target.value)}
        onBlur={tell}
        onKeyDown={(event) => event.key === 'Enter' && tell()}
      />
      {suggestions.length > 0 && (
        <datalist id={listId}>
          {suggestions.map((each) => (
            <option key={each} value={each} />
          ))}
        </datalist>
      )}
    </Field>
  );
}
