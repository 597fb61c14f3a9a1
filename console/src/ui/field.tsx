import { createContext, useContext, useId, type ComponentProps, type ReactNode } from 'react';

interface FieldContextValue {
  id: string;
  describedBy: string | undefined;
  isInvalid: boolean;
}

const FieldContext = createContext<FieldContextValue | undefined>(undefined);

interface FieldProps {
  label: string;
  hint?: ReactNode;
  error?: ReactNode;
}

/** Wraps a control with its label, hint and error. */
export function Field({
  label,
  hint,
  error,
  children,
}: FieldProps & { children: ReactNode }): ReactNode {
  const id = useId();
  const hasError = error !== undefined && error !== null && error !== '' && error !== false;
  const describedBy = [
    ...(hint === undefined ? [] : [`${id}-hint`]),
    ...(hasError ? [`${id}-error`] : []),
  ].join(' ');
  return (
    <FieldContext value={{ id, describedBy: describedBy || undefined, isInvalid: hasError }}>
      <div className="field">
        <label className="field-label" htmlFor={id}>
          {label}
        </label>
        {children}
        {hint !== undefined && (
          <span className="field-hint" id={`${id}-hint`}>
            {hint}
          </span>
        )}
        {hasError && (
          <span className="field-error" id={`${id}-error`} role="alert">
            {error}
          </span>
        )}
      </div>
    </FieldContext>
  );
}

/** Connects a control to its field; a control without a field needs an `aria-label`. */
function useFieldProps() {
  const field = useContext(FieldContext);
  return field
    ? {
        id: field.id,
        'aria-describedby': field.describedBy,
        'aria-invalid': field.isInvalid || undefined,
      }
    : {};
}

export function TextInput(props: ComponentProps<'input'>): ReactNode {
  return <input type="text" autoComplete="off" className="input" {...useFieldProps()} {...props} />;
}

export function TextArea(props: ComponentProps<'textarea'>): ReactNode {
  return <textarea className="input" {...useFieldProps()} {...props} />;
}

/** A select option: a value, or a value with its label. */
export type Option<Value extends string = string> = Value | readonly [value: Value, label: string];

type SelectProps<Value extends string> = Omit<
  ComponentProps<'select'>,
  'value' | 'onChange' | 'children'
> & {
  value: string;
  options: readonly Option<Value>[];
  onChange: (value: NoInfer<Value>) => void;
};

/** The native select element, for accessibility. */
export function Select<Value extends string>({
  options,
  onChange,
  ...props
}: SelectProps<Value>): ReactNode {
  const choose = (value: string) => {
    const chosen = options.map(valueOf).find((each) => each === value);
    if (chosen !== undefined) onChange(chosen);
  };
  return (
    <select
      className="input"
      {...useFieldProps()}
      {...props}
      onChange={({ target }) => choose(target.value)}
    >
      {options.map((option) => (
        <option key={valueOf(option)} value={valueOf(option)}>
          {typeof option === 'string' ? option : option[1]}
        </option>
      ))}
    </select>
  );
}

export function valueOf<Value extends string>(option: Option<Value>): Value {
  return typeof option === 'string' ? option : option[0];
}

/** A `Select` with label, hint and error. */
export function SelectField<Value extends string>({
  label,
  hint,
  error,
  ...props
}: FieldProps & SelectProps<Value>): ReactNode {
  return (
    <Field label={label} hint={hint} error={error}>
      <Select {...props} />
    </Field>
  );
}

/** A `TextInput` with label, hint and error; `onChange` receives the text. */
export function TextField({
  label,
  hint,
  error,
  onChange,
  ...props
}: FieldProps &
  Omit<ComponentProps<'input'>, 'value' | 'onChange'> & {
    value: string;
    onChange: (text: string) => void;
  }): ReactNode {
  return (
    <Field label={label} hint={hint} error={error}>
      <TextInput {...props} onChange={({ target }) => onChange(target.value)} />
    </Field>
  );
}

/** A `TextField` for numbers; the value stays text. */
export function NumberField(props: ComponentProps<typeof TextField>): ReactNode {
  return <TextField type="number" inputMode="numeric" {...props} />;
}

/** A checkbox; `onChange` receives the new state. */
export function Checkbox({
  label,
  onChange,
  ...props
}: Omit<ComponentProps<'input'>, 'onChange'> & {
  label: ReactNode;
  onChange: (isChecked: boolean) => void;
}): ReactNode {
  return (
    <label className="checkbox">
      <input {...props} type="checkbox" onChange={({ target }) => onChange(target.checked)} />
      <span>{label}</span>
    </label>
  );
}
