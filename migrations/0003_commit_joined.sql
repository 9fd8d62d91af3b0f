-- Players who join two matches under one new key at the same moment.

CREATE OR REPLACE FUNCTION commit_joined(item commit_item, sport uuid) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    -- Codes are unique in a sport: a taken one gets a tail of the player's own id. Somebody else may take it in
    -- this very moment, so it is tried, and not looked for.
    WITH tried AS (
        INSERT INTO participant (id, sport_id, code, type, name)
        SELECT p.participant, sport, p.key, 'PERSON', p.name FROM unnest(item.joined) p
            ON CONFLICT (sport_id, code) DO NOTHING
        RETURNING id
    )
    INSERT INTO participant (id, sport_id, code, type, name)
    SELECT p.participant, sport, left(p.key, 51) || '-' || right(p.participant::text, 12), 'PERSON', p.name
      FROM unnest(item.joined) p
     WHERE p.participant NOT IN (SELECT id FROM tried);
    INSERT INTO participant_sport (participant_id, sport_id) SELECT p.participant, sport FROM unnest(item.joined) p;
    INSERT INTO fixture_competitor (id, fixture_id, participant_id, parent_id, key, name, ordinal)
    SELECT p.id, item.match, p.participant, side.id, p.key, p.name,
           p.n - 1 + (SELECT count(*) FROM fixture_competitor c WHERE c.fixture_id = item.match AND c.parent_id = side.id)
      FROM unnest(item.joined) WITH ORDINALITY AS p (id, participant, key, name, side, n)
      JOIN fixture_competitor side ON side.fixture_id = item.match AND side.key = p.side;
END $$;
