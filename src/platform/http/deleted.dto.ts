import { ApiProperty } from '@nestjs/swagger';

/** What is answered when something that has an id was deleted. */
export abstract class DeletedDto {
  @ApiProperty({ format: 'uuid' })
  id!: string;

  @ApiProperty({ example: true })
  deleted!: boolean;
}
