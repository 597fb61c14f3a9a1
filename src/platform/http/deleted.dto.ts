import { ApiProperty } from '@nestjs/swagger';

/** The answer to the deletion of a resource with an id. */
export abstract class DeletedDto {
  @ApiProperty({ format: 'uuid' })
  id!: string;

  @ApiProperty({ example: true })
  deleted!: boolean;
}
