import { buildMessage, ValidateBy } from 'class-validator';
import { parseIsoDateTime } from '../../../../platform/time/dates.js';

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
