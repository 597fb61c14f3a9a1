import { useId, useState, type ReactNode } from 'react';
import { Field, SelectField, TextInput, valueOf, type Option } from './field';

/** A filter with one selected value; `any` labels the empty value. */
export function FilterSelect({
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
  // Links may name a value that no longer exists.
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

/** A typed filter, applied on Enter or blur. */
export function FilterInput({
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
    // Changed elsewhere, for example by "Clear filters".
    setKnown(value);
    setText(value);
  }
  const commit = () => {
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
        onBlur={commit}
        onKeyDown={(event) => event.key === 'Enter' && commit()}
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
