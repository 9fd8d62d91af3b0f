-- A player who joins under a key that the match knows: he joined before, and that was taken back. He is the same
-- participant as then, on the side and under the name that are given now.

CREATE OR REPLACE FUNCTION commit_joined(item commit_item, sport uuid) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    known text[] := ARRAY(SELECT c.key FROM fixture_competitor c
                           WHERE c.fixture_id = item.match AND c.parent_id IS NOT NULL
                             AND c.key = ANY (SELECT p.key FROM unnest(item.joined) p));
BEGIN
    UPDATE fixture_competitor c SET name = p.name, parent_id = side.id
      FROM unnest(item.joined) p
      JOIN fixture_competitor side ON side.fixture_id = item.match AND side.key = p.side
     WHERE c.fixture_id = item.match AND c.key = p.key AND c.parent_id IS NOT NULL;
    -- Codes are unique in a sport: a taken one gets a tail of the player's own id. Somebody else may take it in
    -- this very moment, so it is tried, and not looked for.
    WITH tried AS (
        INSERT INTO participant (id, sport_id, code, type, name)
        SELECT p.participant, sport, p.key, 'PERSON', p.name FROM unnest(item.joined) p WHERE p.key <> ALL (known)
            ON CONFLICT (sport_id, code) DO NOTHING
        RETURNING id
    )
    INSERT INTO participant (id, sport_id, code, type, name)
    SELECT p.participant, sport, left(p.key, 51) || '-' || right(p.participant::text, 12), 'PERSON', p.name
      FROM unnest(item.joined) p
     WHERE p.key <> ALL (known) AND p.participant NOT IN (SELECT id FROM tried);
    INSERT INTO participant_sport (participant_id, sport_id)
    SELECT p.participant, sport FROM unnest(item.joined) p WHERE p.key <> ALL (known);
    INSERT INTO fixture_competitor (id, fixture_id, participant_id, parent_id, key, name, ordinal)
    SELECT p.id, item.match, p.participant, side.id, p.key, p.name,
           p.n - 1 + (SELECT count(*) FROM fixture_competitor c WHERE c.fixture_id = item.match AND c.parent_id = side.id)
      FROM unnest(item.joined) WITH ORDINALITY AS p (id, participant, key, name, side, n)
      JOIN fixture_competitor side ON side.fixture_id = item.match AND side.key = p.side
     WHERE p.key <> ALL (known);
END $$;
