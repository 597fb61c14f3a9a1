import { ApiProperty } from '@nestjs/swagger';
import { LimitsStateDto } from '../../../core/limits/limits.dto.js';
import { CursorPageDto } from '../../../platform/http/cursor-page.js';

/** An end user of the tenant's. */
export class EndUserDto {
  @ApiProperty({
    description: 'Its name; `sha256:` and a hash where that has more than 256 characters.',
    example: 'user-4711',
  })
  id!: string;

  @ApiProperty({ description: 'False: it has those of each end user.', example: true })
  has_own_limits!: boolean;

  @ApiProperty({ type: LimitsStateDto })
  limits!: LimitsStateDto;
}

export class EndUserListDto extends CursorPageDto {
  @ApiProperty({ type: [EndUserDto] })
  data!: EndUserDto[];
}

/** The limits of each end user; what of them is left is told of each. */
export class EachEndUserDto {
  @ApiProperty({ type: LimitsStateDto, description: 'As if nothing were spent.' })
  limits!: LimitsStateDto;
}
