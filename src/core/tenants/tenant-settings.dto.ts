import { ApiProperty } from '@nestjs/swagger';
import { IsIn } from 'class-validator';
import { RECOVERIES, type Recovery } from '../../canonical/routing-preferences.js';

const VALUES = RECOVERIES.map((recovery) => `\`${recovery}\``).join(', ');

/** Settings in a request body. */
export class UpdateTenantSettingsDto {
  @ApiProperty({
    enum: RECOVERIES,
    description:
      'How streams interrupted after their first content are recovered when a request sets neither `recovery` nor `X-Gateway-Recovery`: not at all, by another route of the same model, or also by the other models in `models`.',
    example: 'continue',
  })
  @IsIn(RECOVERIES, { message: `recovery must be one of ${VALUES}` })
  recovery!: Recovery;
}

/** Defaults of a tenant's requests. */
export class TenantSettingsDto extends UpdateTenantSettingsDto {
  @ApiProperty({ enum: ['settings'] })
  object!: 'settings';
}
