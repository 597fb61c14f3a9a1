import { Link, type LinkComponentProps } from '@tanstack/react-router';
import type { ComponentProps, ReactNode } from 'react';

type Variant = 'primary' | 'default' | 'danger' | 'quiet';

const CLASS_OF: Record<Variant, string> = {
  primary: 'button button-primary',
  default: 'button',
  danger: 'button button-danger',
  quiet: 'button button-quiet',
};

/** A button that ignores clicks while `busy`. */
export function Button({
  variant = 'default',
  busy = false,
  type = 'button',
  children,
  onClick,
  disabled,
  ...props
}: ComponentProps<'button'> & { variant?: Variant; busy?: boolean }): ReactNode {
  return (
    <button
      {...props}
      type={type}
      className={CLASS_OF[variant]}
      disabled={disabled}
      // `disabled` would drop the focus.
      aria-disabled={busy || undefined}
      aria-busy={busy || undefined}
      onClick={(event) => {
        if (busy) event.preventDefault();
        else onClick?.(event);
      }}
    >
      {busy ? <>Working…</> : children}
    </button>
  );
}

/** A link that looks like a button. */
export function ButtonLink({
  variant = 'default',
  ...props
}: LinkComponentProps<'a'> & { variant?: Variant }): ReactNode {
  return <Link {...props} className={CLASS_OF[variant]} />;
}
