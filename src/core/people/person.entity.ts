import { Column, Entity, PrimaryGeneratedColumn } from 'typeorm';
import type { OperatorRole } from '../access/roles.js';
import { storedText } from '../../platform/database/stored-text.js';

/** A person, identified by issuer and subject. */
@Entity('people')
export class PersonEntity {
  @PrimaryGeneratedColumn('uuid')
  id!: string;

  @Column('text', { transformer: storedText })
  issuer!: string;

  @Column('text', { transformer: storedText })
  subject!: string;

  @Column('text', { transformer: storedText, nullable: true })
  email!: string | null;

  @Column('text', { transformer: storedText })
  name!: string;

  @Column('text', { nullable: true })
  operatorRole!: OperatorRole | null;

  @Column('boolean', { default: false })
  operatorByClaim!: boolean;

  @Column('timestamptz', { nullable: true })
  disabledAt!: Date | null;

  @Column({ type: 'timestamptz', precision: 3, default: () => 'now()' })
  createdAt!: Date;

  @Column('timestamptz', { nullable: true })
  lastLoginAt!: Date | null;
}
