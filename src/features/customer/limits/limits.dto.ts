import { CursorPageDto } from '../../../platform/http/cursor-page.js';
import { BooleanField, StringField } from '../../../platform/http/field.decorators.js';
import { ObjectField, ObjectListField } from '../../../platform/http/nested-field.decorators.js';
import { LimitsStateDto } from '../../../core/limits/limits.dto.js';

/** An end user of the tenant. */
export class EndUserDto {
  @StringField({
    description: 'Its name, or `sha256:` and a hash for names over 256 characters.',
    example: 'user-4711',
  })
  id!: string;

  @BooleanField({ description: 'False: the default limits apply.', example: true })
  has_own_limits!: boolean;

  @ObjectField(LimitsStateDto)
  limits!: LimitsStateDto;
}

export class EndUserListDto extends CursorPageDto {
  @ObjectListField(EndUserDto)
  data!: EndUserDto[];
}

/** Default limits of end users. Remainders are given per end user. */
export class EachEndUserDto {
  @ObjectField(LimitsStateDto, { description: 'Shown without any usage.' })
  limits!: LimitsStateDto;
}
