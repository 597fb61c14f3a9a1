import { Entity, PrimaryColumn } from 'typeorm';

/** A hold that counts toward the monthly limit of a key. */
@Entity('key_holds')
export class KeyHoldEntity {
  @PrimaryColumn('uuid')
  apiKeyId!: string;

  @PrimaryColumn('uuid')
  requestId!: string;
}
