import { Matches, ValidateIf } from 'class-validator';

/** The field may be left out, but not be null. */
export function MayBeAbsent(): PropertyDecorator {
  return ValidateIf((_, value) => value !== undefined);
}

/** A name that a tenant gives to something of its own: 1 to 255 characters, counted as code points. */
export function IsName(): PropertyDecorator {
  return Matches(/^[^]{1,255}$/u, { message: 'name must be a string of 1 to 255 characters' });
}
