-- A correction writes the checkpoints of what it replayed anew.

ALTER TABLE scoring_checkpoint ADD COLUMN lines json;
COMMENT ON COLUMN scoring_checkpoint.lines IS
    'All lines as they stood there, [[segment, role, subject, values], …]: of one that a correction wrote in the midst '
    'of what stands. NULL: they are those of now with the before-images of all rows after seq put back.';

CREATE TYPE commit_checkpoint AS (position bigint, state text, state_hash bytea, lines text);
COMMENT ON TYPE commit_checkpoint IS 'A checkpoint that a correction writes anew.';

DROP FUNCTION commit_move(commit_item, bigint, bigint, commit_line[], text[], integer, text);
DROP FUNCTION commit_correction(commit_item, bigint, bigint, commit_line[], text[], integer);

CREATE FUNCTION commit_correction(
    item commit_item, changed_from bigint, new_position bigint, gone_lines commit_line[], gone_parts text[],
    rewritten commit_checkpoint[], patience_ms integer
) RETURNS commit_outcome[] LANGUAGE plpgsql AS $$
DECLARE
    board    record;
    outcomes commit_outcome[];
    stand    bigint;
    same     bigint;
BEGIN
    PERFORM set_config('lock_timeout', patience_ms::text, true);
    SELECT f.last_seq, f.first_day, b.epoch, b.position, b.code_sha INTO board
      FROM fixture f JOIN scoreboard b ON b.fixture_id = f.id
     WHERE f.id = item.match
       FOR NO KEY UPDATE OF f;
    IF NOT FOUND OR board.last_seq <> item.expect_seq OR board.code_sha <> item.code_sha THEN
        RETURN commit_batch(ARRAY[item]);  -- which says why not
    END IF;
    stand := coalesce(new_position, board.position - 1);
    same := coalesce(changed_from, stand);
    BEGIN
        -- Checkpoints before the change hold on in the new epoch, the others are of a past that is not.
        DELETE FROM scoring_checkpoint c
         WHERE c.fixture_id = item.match AND (c.position > same OR c.position = stand);
        UPDATE scoring_checkpoint c SET epoch = board.epoch + 1 WHERE c.fixture_id = item.match;
        INSERT INTO scoring_checkpoint (fixture_id, epoch, position, seq, code_sha, state, state_hash, lines)
        SELECT item.match, board.epoch + 1, r.position, item.expect_seq + 1, item.code_sha, r.state::json,
               r.state_hash, r.lines::json
          FROM unnest(rewritten) r
         WHERE r.position > same AND r.position < stand;
        UPDATE scoreboard b SET epoch = board.epoch + 1, position = stand - 1 WHERE b.fixture_id = item.match;
        UPDATE stat_value s SET computed = NULL, last_seq = item.expect_seq + 1, updated_at = now()
          FROM unnest(gone_lines) g
         WHERE s.fixture_id = item.match AND s.occurred_on = board.first_day AND s.subject_id = g.participant
           AND s.subject_role = g.role AND s.segment = g.segment AND s.pinned IS NOT NULL;
        DELETE FROM stat_value s USING unnest(gone_lines) g
         WHERE s.fixture_id = item.match AND s.occurred_on = board.first_day AND s.subject_id = g.participant
           AND s.subject_role = g.role AND s.segment = g.segment AND s.pinned IS NULL;
        DELETE FROM published_document d
         WHERE d.fixture_id = item.match
           AND CASE WHEN gone_parts IS NULL
                    THEN d.segment NOT IN (SELECT p.segment FROM unnest(item.parts) p)
                    ELSE d.segment = ANY (gone_parts) END;
        outcomes := commit_batch(ARRAY[item]);
        IF outcomes[1].kind <> 'committed' THEN
            RAISE EXCEPTION USING ERRCODE = 'SBNOT', MESSAGE = 'not committed';
        END IF;
        -- Where it ends, the lines are those of now. Every 50th event has one already.
        INSERT INTO scoring_checkpoint (fixture_id, epoch, position, seq, code_sha, state, state_hash)
        SELECT item.match, board.epoch + 1, stand, item.expect_seq + 1, item.code_sha, item.state::json,
               item.state_hash
         WHERE new_position > 0
            ON CONFLICT DO NOTHING;
    EXCEPTION WHEN SQLSTATE 'SBNOT' THEN
        NULL;  -- all of it is taken back; the outcome says why
    END;
    RETURN outcomes;
EXCEPTION WHEN lock_not_available THEN
    RETURN ARRAY[ROW (1, 'busy', NULL, NULL, NULL)::commit_outcome];
END $$;
COMMENT ON FUNCTION commit_correction IS
    'Saves a correction: as commit_item, with a new epoch, the lines and parts that are no more, and the checkpoints '
    'that no longer hold written anew. changed_from events of the effective log are as they were; new_position now '
    'stand; NULL for both of an undo, after which one event less stands. gone_parts NULL: all parts that are not '
    'written go.';

CREATE FUNCTION commit_move(
    item commit_item, changed_from bigint, new_position bigint, gone_lines commit_line[], gone_parts text[],
    rewritten commit_checkpoint[], patience_ms integer, from_code text
) RETURNS commit_outcome[] LANGUAGE plpgsql AS $$
DECLARE
    board    record;
    rules    uuid;
    outcomes commit_outcome[];
BEGIN
    PERFORM set_config('lock_timeout', patience_ms::text, true);
    SELECT f.last_seq, f.sport_id, b.epoch, b.code_sha INTO board
      FROM fixture f JOIN scoreboard b ON b.fixture_id = f.id
     WHERE f.id = item.match
       FOR NO KEY UPDATE OF f;
    IF NOT FOUND OR board.last_seq <> item.expect_seq THEN
        RETURN commit_batch(ARRAY[item]);  -- which says why not
    END IF;
    -- Who retires a version counts the matches on it: he waits for this one, or it finds the version retired.
    SELECT v.id INTO rules FROM scoring_program_version v
     WHERE v.sport_id = board.sport_id AND v.code_sha = item.code_sha AND v.status <> 'RETIRED'
       FOR SHARE;
    IF rules IS NULL OR board.code_sha <> from_code THEN
        RETURN ARRAY[ROW (1, 'code', board.last_seq, board.epoch, board.code_sha)::commit_outcome];
    END IF;
    BEGIN
        UPDATE scoreboard b SET code_sha = item.code_sha, rules_id = rules WHERE b.fixture_id = item.match;
        UPDATE fixture f SET scoring_program_version_id = rules WHERE f.id = item.match;
        outcomes := commit_correction(
            item, changed_from, new_position, gone_lines, gone_parts, rewritten, patience_ms
        );
        IF outcomes[1].kind <> 'committed' THEN
            RAISE EXCEPTION USING ERRCODE = 'SBNOT', MESSAGE = 'not committed';
        END IF;
    EXCEPTION WHEN SQLSTATE 'SBNOT' THEN
        NULL;  -- all of it is taken back; the outcome says why
    END;
    RETURN outcomes;
EXCEPTION WHEN lock_not_available THEN
    RETURN ARRAY[ROW (1, 'busy', NULL, NULL, NULL)::commit_outcome];
END $$;
COMMENT ON FUNCTION commit_move IS
    'Saves a move to another version: as commit_correction, worked out by the item''s code, to which the match is '
    'pinned from here on. from_code is the one it is pinned to until then.';
