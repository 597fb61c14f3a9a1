import { BooleanField, UuidField } from './field.decorators.js';

/** The answer to the deletion of a resource with an id. */
export abstract class DeletedDto {
  @UuidField()
  id!: string;

  @BooleanField({ example: true })
  deleted!: boolean;
}
