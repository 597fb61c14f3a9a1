import { ApiProperty } from '@nestjs/swagger';
import { IsNotEmpty, IsString } from 'class-validator';

const MESSAGE = 'id is required: one request id, as an answer had it in x-request-id';

export class GenerationQueryDto {
  @ApiProperty({ format: 'uuid', description: 'The `x-request-id` of an earlier answer.' })
  @IsString({ message: MESSAGE })
  @IsNotEmpty({ message: MESSAGE })
  id!: string;
}
