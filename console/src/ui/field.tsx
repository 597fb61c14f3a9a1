import { createContext, useContext, useId, type ComponentProps, type ReactNode } from 'react';

interface FieldContextValue {
  id: string;
  describedBy: string | undefined;
  isInvalid: boolean;
}

const FieldContext = createContext<FieldContextValue | undefined>(undefined);

/** A label, a hint and an error around one control. */
export function Field({
  label,
  hint,
  error,
  children,
}: {
  label: string;
  hint?: ReactNode;
  error?: ReactNode;
  children: ReactNode;
}): ReactNode {
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

/** What ties a control to its field; without one it needs an `aria-label`. */
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

export function NumberInput(props: ComponentProps<'input'>): ReactNode {
  return <TextInput type="number" inputMode="numeric" {...props} />;
}

export function TextArea(props: ComponentProps<'textarea'>): ReactNode {
  return <textarea className="input" {...useFieldProps()} {...props} />;
}

/** The browser's own, which every screen reader and phone knows; `children` are options. */
export function Select(props: ComponentProps<'select'>): ReactNode {
  return <select className="input" {...useFieldProps()} {...props} />;
}

export function Checkbox({
  label,
  ...props
}: ComponentProps<'input'> & { label: ReactNode }): ReactNode {
  return (
    <label className="checkbox">
      <input {...props} type="checkbox" />
      <span>{label}</span>
    </label>
  );
}
