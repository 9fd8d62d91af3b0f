-- The outbox: notes per match by gap-free seq. A global serial would lose rows that commit late.

-- name: outbox_matches
-- Matches that have notes, hopping from one to the next along the key.
WITH RECURSIVE noted (fixture_id) AS (
    (SELECT e.fixture_id FROM domain_event e ORDER BY e.fixture_id LIMIT 1)
    UNION ALL
    SELECT (SELECT e.fixture_id FROM domain_event e WHERE e.fixture_id > n.fixture_id ORDER BY e.fixture_id LIMIT 1)
      FROM noted n WHERE n.fixture_id IS NOT NULL
)
SELECT fixture_id FROM noted WHERE fixture_id IS NOT NULL LIMIT $1

-- name: outbox_of_match
-- What a subscriber does not have of a match yet.
SELECT e.seq, e.epoch, e.event_type, e.emits, e.created_at
  FROM domain_event e
 WHERE e.fixture_id = $1
   AND e.seq > coalesce((SELECT c.seq FROM delivery_cursor c WHERE c.subscriber = $2 AND c.fixture_id = $1), 0)
 ORDER BY e.seq LIMIT $3

-- name: deliver
-- A cursor only moves forward.
INSERT INTO delivery_cursor (subscriber, fixture_id, seq) VALUES ($2, $1, $3)
ON CONFLICT (subscriber, fixture_id)
DO UPDATE SET seq = greatest(delivery_cursor.seq, excluded.seq), updated_at = now()

-- name: forget_delivered
-- Notes that every one of these subscribers has.
DELETE FROM domain_event e
 WHERE e.fixture_id = $1
   AND e.seq <= (SELECT min(coalesce(c.seq, 0))
                   FROM unnest($2::text[]) s LEFT JOIN delivery_cursor c ON c.subscriber = s AND c.fixture_id = $1)
