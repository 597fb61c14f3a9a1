import type { ObjectLiteral, SelectQueryBuilder } from 'typeorm';

/**
 * Sorts by creation time and id, newest first.
 *
 * @param after creation time and id of the last row of the previous page
 */
export function newestFirst<Row extends ObjectLiteral>(
  query: SelectQueryBuilder<Row>,
  limit: number,
  after?: readonly (string | number | Date)[],
): SelectQueryBuilder<Row> {
  const { alias } = query;
  const [time, id] = after ?? [];
  if (after) {
    const isOlder = `(${alias}.createdAt, ${alias}.id) < (:time::timestamptz, :id)`;
    query.andWhere(isOlder, { time, id });
  }
  return query.orderBy({ [`${alias}.createdAt`]: 'DESC', [`${alias}.id`]: 'DESC' }).limit(limit);
}
