import { ApiProperty } from '@nestjs/swagger';
import { IsIn } from 'class-validator';
import { RECOVERIES, type Recovery } from '../../canonical/routing-preferences.js';

const WORDS = RECOVERIES.map((recovery) => `\`${recovery}\``).join(', ');

/** What a body changes. */
export class UpdateTenantSettingsDto {
  @ApiProperty({
    enum: RECOVERIES,
    description:
      'Who goes on with a stream that breaks off after its first content, for requests that do not say so by `recovery` or `X-Gateway-Recovery`: nobody, another route of the same model, or one of the other models in `models` too.',
    example: 'continue',
  })
  @IsIn(RECOVERIES, { message: `recovery is one of ${WORDS}` })
  recovery!: Recovery;
}

/** What holds for all of a tenant's requests that do not say otherwise. */
export class TenantSettingsDto extends UpdateTenantSettingsDto {
  @ApiProperty({ enum: ['settings'] })
  object!: 'settings';
}
