import { buildMessage, Matches, ValidateBy, ValidateIf } from 'class-validator';
import { parseIsoDateTime } from '../../../common/time/parse-iso-date-time.js';

/** The field may be left out, but not be null. */
export function MayBeAbsent(): PropertyDecorator {
  return ValidateIf((_, value) => value !== undefined);
}

/** 1 to 255 characters, counted as code points. */
export function IsKeyName(): PropertyDecorator {
  return Matches(/^[^]{1,255}$/u, { message: 'name must be a string of 1 to 255 characters' });
}

/** An ISO 8601 date or date-time of a day that exists. */
export function IsIsoDateTime(): PropertyDecorator {
  return ValidateBy({
    name: 'isIsoDateTime',
    validator: {
      validate: (value: unknown) =>
        typeof value === 'string' && parseIsoDateTime(value) !== undefined,
      defaultMessage: buildMessage(
        (prefix) =>
          `${prefix}$property must be an ISO 8601 date-time such as 2030-12-31T23:59:59Z, or null`,
      ),
    },
  });
}
