import { EnumField } from '../../platform/http/field.decorators.js';
import { RECOVERIES, type Recovery } from '../../canonical/routing-preferences.js';

/** Settings in a body. */
export class UpdateTenantSettingsDto {
  @EnumField(RECOVERIES, {
    description:
      'Whether streams interrupted after their first content are recovered: not at all, over another route of the same model, or also by other models in `models`. Requests override it with `recovery` or `X-Gateway-Recovery`.',
    example: 'continue',
  })
  recovery!: Recovery;
}

/** Defaults of a tenant's requests. */
export class TenantSettingsDto extends UpdateTenantSettingsDto {
  @EnumField(['settings'])
  object!: 'settings';
}
