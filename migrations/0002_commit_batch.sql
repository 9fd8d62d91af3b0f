-- The one grouped commit call.

CREATE TYPE commit_line AS (participant uuid, role text, segment text, "values" text);
COMMENT ON TYPE commit_line IS 'A changed line: whole values.';
CREATE TYPE commit_part AS (segment text, body text);
COMMENT ON TYPE commit_part IS 'A changed part of the document; segment '''' is the head.';
CREATE TYPE commit_rank AS (key text, rank integer);
COMMENT ON TYPE commit_rank IS 'The finishing place of a side.';
CREATE TYPE commit_player AS (id uuid, participant uuid, key text, name text, side text);
COMMENT ON TYPE commit_player IS 'A player who joins: ids of the entry and of the participant, both made by the sender.';

CREATE TYPE commit_item AS (
    match        uuid,
    id           uuid,
    expect_seq   bigint,
    code_sha     text,
    code         text,
    input        text,
    override     text[],
    account      text,
    device       text,
    provider     text,
    sent_at      timestamptz,
    received_at  timestamptz,
    state        text,
    state_hash   bytea,
    summary      text,
    emits        text[],
    warnings     text,
    status       text,
    result       text,
    lines_before text,
    lines        commit_line[],
    parts        commit_part[],
    ranks        commit_rank[],
    joined       commit_player[]
);
COMMENT ON TYPE commit_item IS 'One command ready to be saved. JSON travels as text and is checked when it is stored.';

CREATE TYPE commit_outcome AS (item bigint, kind text, seq bigint, epoch bigint, detail text);
COMMENT ON TYPE commit_outcome IS
    'What became of an item (1-based): committed, known, stale, busy, code, unknown or malformed. '
    'seq is the item''s (committed, known) or the match''s newest (stale); detail the match''s code_sha or an error.';

CREATE FUNCTION commit_joined(items commit_item[]) RETURNS void LANGUAGE sql
    SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off AS $$
    WITH player AS MATERIALIZED (
        SELECT i.match, f.sport_id, p.*
          FROM unnest(items) i
          JOIN fixture f ON f.id = i.match AND f.last_seq = i.expect_seq,
               unnest(i.joined) p
    ), made AS (
        INSERT INTO participant (id, sport_id, code, type, name)
        SELECT p.participant, p.sport_id,
               -- Codes are unique in a sport: a taken one gets a tail of the player's own id.
               CASE WHEN EXISTS (SELECT FROM participant x WHERE x.sport_id = p.sport_id AND x.code = p.key)
                    THEN left(p.key, 51) || '-' || right(p.participant::text, 12) ELSE p.key END,
               'PERSON', p.name
          FROM player p
    ), seen AS (
        INSERT INTO participant_sport (participant_id, sport_id) SELECT p.participant, p.sport_id FROM player p
    )
    INSERT INTO fixture_competitor (id, fixture_id, participant_id, parent_id, key, name, ordinal)
    SELECT p.id, p.match, p.participant, side.id, p.key, p.name,
           (SELECT count(*) FROM fixture_competitor c WHERE c.fixture_id = p.match AND c.parent_id = side.id)
      FROM player p JOIN fixture_competitor side ON side.fixture_id = p.match AND side.key = p.side
$$;
COMMENT ON FUNCTION commit_joined IS 'Players who join a match: participant, its sport, and the entry under its side.';

CREATE FUNCTION commit_ranked(items commit_item[]) RETURNS void LANGUAGE sql
    SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off AS $$
    UPDATE fixture_competitor c
       SET rank = r.rank, result_status = 'FINISHED', updated_at = now()
      FROM unnest(items) i, unnest(i.ranks) r
     WHERE c.fixture_id = i.match AND c.key = r.key
$$;
COMMENT ON FUNCTION commit_ranked IS 'The finishing places of sides, once there is a result.';

CREATE FUNCTION commit_items(items commit_item[]) RETURNS commit_outcome[] LANGUAGE plpgsql
    -- The plan is made once per session, often on empty tables, and must not turn into scans as they grow.
    SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off AS $$
DECLARE
    outcomes commit_outcome[];
BEGIN
    WITH given AS MATERIALIZED (
        SELECT * FROM unnest(items) WITH ORDINALITY AS i (
            match, id, expect_seq, code_sha, code, input, override, account, device, provider, sent_at, received_at,
            state, state_hash, summary, emits, warnings, status, result, lines_before, lines, parts, ranks, joined, n)
    ), locked AS MATERIALIZED (
        -- Somebody else's lock is not waited for: those items are busy, the others go on.
        SELECT f.id, f.last_seq, f.first_day, f.sport_id, f.competition_id, f.format_code
          FROM fixture f
         WHERE f.id IN (SELECT g.match FROM given g)
         ORDER BY f.id
           FOR NO KEY UPDATE SKIP LOCKED
    ), judged AS MATERIALIZED (
        SELECT g.*, l.last_seq, l.first_day, l.sport_id, l.competition_id, l.format_code,
               b.epoch, b.position + 1 AS position,
               CASE
                   WHEN l.id IS NULL THEN 'busy'
                   WHEN g.n > min(g.n) OVER (PARTITION BY g.match) THEN 'busy'
                   WHEN l.last_seq <> g.expect_seq THEN 'stale'
                   WHEN b.code_sha <> g.code_sha THEN 'code'
                   ELSE 'committed'
               END AS kind,
               b.code_sha AS pinned_sha
          FROM given g
          LEFT JOIN locked l ON l.id = g.match
          LEFT JOIN scoreboard b ON b.fixture_id = l.id
    ), logged AS (
        INSERT INTO timeline_item (
            stream_id, seq, epoch, event_type, payload, override, idempotency_key, actor, device, source_code,
            sent_at, received_at, state_hash, emits, warnings, lines_before)
        SELECT j.match, j.expect_seq + 1, j.epoch, j.code, j.input::json, j.override, j.id, j.account, j.device,
               j.provider, j.sent_at, j.received_at, j.state_hash, j.emits, j.warnings::json, j.lines_before::json
          FROM judged j WHERE j.kind = 'committed'
    ), noted AS (
        INSERT INTO domain_event (fixture_id, seq, epoch, event_type, emits)
        SELECT j.match, j.expect_seq + 1, j.epoch, j.code, j.emits FROM judged j WHERE j.kind = 'committed'
    ), counted AS (
        UPDATE fixture f
           SET last_seq = j.expect_seq + 1, status = j.status, result = j.result::jsonb, updated_at = now()
          FROM judged j WHERE j.kind = 'committed' AND f.id = j.match
    ), saved AS (
        UPDATE scoreboard b
           SET snapshot = j.state::json, summary = j.summary::json, last_seq = j.expect_seq + 1,
               events_seq = j.expect_seq + 1, position = j.position, state_hash = j.state_hash, updated_at = now()
          FROM judged j WHERE j.kind = 'committed' AND b.fixture_id = j.match
    ), marked AS (
        INSERT INTO scoring_checkpoint (fixture_id, epoch, position, seq, code_sha, state, state_hash)
        SELECT j.match, j.epoch, j.position, j.expect_seq + 1, j.code_sha, j.state::json, j.state_hash
          FROM judged j WHERE j.kind = 'committed' AND j.position % 50 = 0
    ), lined AS (
        INSERT INTO stat_value (
            fixture_id, subject_id, subject_role, segment, occurred_on, sport_id, competition_id, format_code,
            computed, last_seq)
        SELECT j.match, l.participant, l.role, l.segment, j.first_day, j.sport_id, j.competition_id, j.format_code,
               l."values"::json, j.expect_seq + 1
          FROM judged j, unnest(j.lines) l WHERE j.kind = 'committed'
        ON CONFLICT (fixture_id, subject_id, subject_role, segment, occurred_on)
        DO UPDATE SET computed = excluded.computed, last_seq = excluded.last_seq, updated_at = now()
    ), published AS (
        INSERT INTO published_document (fixture_id, segment, body, last_seq, epoch)
        SELECT j.match, p.segment, p.body::json, j.expect_seq + 1, j.epoch
          FROM judged j, unnest(j.parts) p WHERE j.kind = 'committed'
        ON CONFLICT (fixture_id, segment)
        DO UPDATE SET body = excluded.body, last_seq = excluded.last_seq, epoch = excluded.epoch, updated_at = now()
    )
    SELECT array_agg(
               ROW (j.n, j.kind, CASE WHEN j.kind = 'committed' THEN j.expect_seq + 1 ELSE j.last_seq END,
                    j.epoch, CASE WHEN j.kind = 'code' THEN j.pinned_sha END)::commit_outcome ORDER BY j.n)
      INTO outcomes
      FROM judged j;
    RETURN outcomes;
END $$;
COMMENT ON FUNCTION commit_items IS
    'Saves items of different matches in one statement: all that can be, or an error of one of them. '
    'An id that is in the log already is an error here (uq_timeline_item_idempotency) or a stale item.';

CREATE FUNCTION commit_together(items commit_item[]) RETURNS commit_outcome[] LANGUAGE plpgsql AS $$
DECLARE
    outcomes commit_outcome[];
    joins    boolean;
    ranks    boolean;
BEGIN
    SELECT bool_or(cardinality(i.joined) > 0), bool_or(cardinality(i.ranks) > 0) INTO joins, ranks FROM unnest(items) i;
    IF joins THEN
        PERFORM commit_joined(items);
    END IF;
    outcomes := commit_items(items);
    IF ranks THEN
        PERFORM commit_ranked(items);
    END IF;
    RETURN outcomes;
END $$;
COMMENT ON FUNCTION commit_together IS
    'Saves items with all that belongs to them. Where one was not committed its players and places must be taken back.';

CREATE FUNCTION commit_batch(items commit_item[]) RETURNS commit_outcome[] LANGUAGE plpgsql AS $$
DECLARE
    outcomes commit_outcome[];
    outcome  commit_outcome;
    earlier  record;
    clean    boolean := true;
BEGIN
    BEGIN
        outcomes := commit_together(items);
        FOR n IN 1..cardinality(items) LOOP
            clean := clean AND outcomes[n].kind = 'committed';
        END LOOP;
        IF clean THEN
            RETURN outcomes;
        END IF;
        IF EXISTS (SELECT FROM unnest(items) i WHERE cardinality(i.joined) > 0 OR cardinality(i.ranks) > 0) THEN
            outcomes := NULL;
            RAISE EXCEPTION USING ERRCODE = 'SB001', MESSAGE = 'taken back, to be saved one by one';
        END IF;
    EXCEPTION WHEN OTHERS THEN
        outcomes := NULL;
    END;
    IF outcomes IS NULL THEN
        -- Something in it is bad: each item by itself, so that it spoils no other.
        outcomes := '{}';
        FOR n IN 1..cardinality(items) LOOP
            BEGIN
                outcome := (commit_together(items[n:n]))[1];
                IF outcome.kind <> 'committed' THEN
                    RAISE EXCEPTION USING ERRCODE = 'SB001', MESSAGE = 'taken back; the outcome says why';
                END IF;
            EXCEPTION
                WHEN SQLSTATE 'SB001' THEN
                    NULL;
                WHEN lock_not_available OR deadlock_detected THEN
                    outcome := ROW (n, 'busy', NULL, NULL, NULL);
                WHEN OTHERS THEN
                    -- Faults of the item (data, constraints, limits) are its own; the rest is the server's.
                    IF left(SQLSTATE, 2) NOT IN ('22', '23', '54', 'P0') THEN
                        RAISE;
                    END IF;
                    outcome := ROW (n, 'malformed', NULL, NULL, SQLERRM);
            END;
            outcome.item := n;
            outcomes := outcomes || outcome;
        END LOOP;
    END IF;
    FOR n IN 1..cardinality(items) LOOP
        IF outcomes[n].kind IN ('stale', 'busy', 'malformed') THEN
            SELECT t.seq, t.epoch INTO earlier FROM timeline_item t
             WHERE t.stream_id = items[n].match AND t.idempotency_key = items[n].id;
            IF FOUND THEN
                outcomes[n] := ROW (n, 'known', earlier.seq, earlier.epoch, NULL);
            ELSIF outcomes[n].kind = 'busy' AND NOT EXISTS (SELECT FROM fixture f WHERE f.id = items[n].match) THEN
                outcomes[n] := ROW (n, 'unknown', NULL, NULL, NULL);
            END IF;
        END IF;
    END LOOP;
    RETURN outcomes;
END $$;
COMMENT ON FUNCTION commit_batch IS
    'Saves commands of different matches together. Whatever is wrong with one (busy, stale, malformed) spoils no other.';

CREATE FUNCTION commit_patiently(item commit_item, patience_ms integer) RETURNS commit_outcome[] LANGUAGE plpgsql AS $$
BEGIN
    PERFORM set_config('lock_timeout', patience_ms::text, true);
    PERFORM FROM fixture f WHERE f.id = (item).match FOR NO KEY UPDATE;
    RETURN commit_batch(ARRAY[item]);
EXCEPTION WHEN lock_not_available THEN
    RETURN ARRAY[ROW (1, 'busy', NULL, NULL, NULL)::commit_outcome];
END $$;
COMMENT ON FUNCTION commit_patiently IS 'Saves one item of a match that somebody else held, waiting so long for its lock.';

GRANT USAGE ON SCHEMA public TO scorebox_server;
GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO scorebox_server;
REVOKE UPDATE, DELETE, TRUNCATE ON timeline_item FROM scorebox_server;
REVOKE ALL ON ledger_stream FROM scorebox_server;
GRANT SELECT, INSERT ON ledger_stream TO scorebox_server;
