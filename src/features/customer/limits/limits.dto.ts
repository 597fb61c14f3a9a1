import { ApiProperty } from '@nestjs/swagger';
import { LimitsStateDto } from '../../../core/limits/limits.dto.js';
import { CursorPageDto } from '../../../platform/http/cursor-page.js';

/** An end user of the tenant. */
export class EndUserDto {
  @ApiProperty({
    description: 'Its name, or `sha256:` and a hash for names over 256 characters.',
    example: 'user-4711',
  })
  id!: string;

  @ApiProperty({ description: 'False: the default limits apply.', example: true })
  has_own_limits!: boolean;

  @ApiProperty({ type: LimitsStateDto })
  limits!: LimitsStateDto;
}

export class EndUserListDto extends CursorPageDto {
  @ApiProperty({ type: [EndUserDto] })
  data!: EndUserDto[];
}

/** Default limits of end users. Remainders are given per end user. */
export class EachEndUserDto {
  @ApiProperty({ type: LimitsStateDto, description: 'Shown without any usage.' })
  limits!: LimitsStateDto;
}
