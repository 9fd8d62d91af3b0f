-- The core tables: sports and their versions, competitions, parties, matches, the log and what is derived from it.
--
-- Ids are UUIDv7 made by the application, so related rows can be linked before they are written; the busiest
-- log has a bigint identity. Enums are texts checked in Python, so a new value needs no migration. JSON that
-- must come back byte for byte (states, inputs, documents) is `json`, the rest is `jsonb`.

-- The role of the server's sessions. It may not change or delete a row of the log. Managed servers may forbid
-- CREATE ROLE: make the role by hand there and grant it to the role that migrates.
DO $$
BEGIN
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'scorebox_server') THEN
        CREATE ROLE scorebox_server NOLOGIN;
    END IF;
    IF NOT pg_has_role(current_user, 'scorebox_server', 'USAGE') THEN
        EXECUTE format('GRANT scorebox_server TO %I', current_user);
    END IF;
EXCEPTION WHEN duplicate_object OR unique_violation THEN
    NULL;  -- two databases of one cluster migrated at once
END $$;

CREATE TABLE sport (
    id              uuid PRIMARY KEY,
    code            varchar(64)  NOT NULL UNIQUE,
    name            varchar(256) NOT NULL,
    parent_id       uuid REFERENCES sport (id),
    archetype       varchar(32),
    competitor_kind varchar(32),
    status          varchar(16)  NOT NULL DEFAULT 'ACTIVE',
    created_at      timestamptz  NOT NULL DEFAULT now()
);
COMMENT ON TABLE sport IS 'A sport; one may sit under another (aquatics, swimming).';
COMMENT ON COLUMN sport.archetype IS 'Default shape of new fixtures: HEAD_TO_HEAD, RANKED_FIELD, SERIES, COMPOSITE.';
COMMENT ON COLUMN sport.competitor_kind IS 'Who competes: PERSON, TEAM, PAIR, COMBO, CREW.';

CREATE TABLE scoring_program_version (
    id         uuid PRIMARY KEY,
    sport_id   uuid         NOT NULL REFERENCES sport (id),
    version    varchar(64)  NOT NULL,
    code_sha   varchar(64)  NOT NULL,
    manifest   json         NOT NULL DEFAULT '{}',
    status     varchar(16)  NOT NULL DEFAULT 'ACTIVE',
    created_at timestamptz  NOT NULL DEFAULT now(),
    UNIQUE (sport_id, code_sha)
);
COMMENT ON TABLE scoring_program_version IS
    'A version of a sport''s rules. Its fingerprint covers the code, the contract and the Python minor version.';

CREATE TABLE competition (
    id           uuid PRIMARY KEY,
    sport_id     uuid REFERENCES sport (id),
    parent_id    uuid REFERENCES competition (id),
    type         varchar(64)  NOT NULL,
    code         varchar(64)  NOT NULL,
    name         varchar(256) NOT NULL,
    fixture_type varchar(64),
    format_code  varchar(64),
    scoring_mode varchar(16),
    status       varchar(32),
    ordinal      integer,
    start_date   date,
    end_date     date,
    config       jsonb        NOT NULL DEFAULT '{}',
    created_at   timestamptz  NOT NULL DEFAULT now(),
    updated_at   timestamptz  NOT NULL DEFAULT now(),
    UNIQUE (sport_id, code),
    CHECK (parent_id <> id)
);
CREATE UNIQUE INDEX uq_competition_code_no_sport ON competition (code) WHERE sport_id IS NULL;
CREATE INDEX ix_competition_parent_id ON competition (parent_id);
COMMENT ON TABLE competition IS
    'A node of the competition tree, of any depth. A games root has no sport, what lies below it has.';
COMMENT ON COLUMN competition.scoring_mode IS 'events or scorecard; inherited downward.';

CREATE TABLE competition_closure (
    ancestor_id   uuid    NOT NULL REFERENCES competition (id) ON DELETE CASCADE,
    descendant_id uuid    NOT NULL REFERENCES competition (id) ON DELETE CASCADE,
    depth         integer NOT NULL,
    PRIMARY KEY (ancestor_id, descendant_id)
);
CREATE INDEX ix_competition_closure_descendant ON competition_closure (descendant_id);
COMMENT ON TABLE competition_closure IS
    'Every (ancestor, descendant) pair of the competition tree with its distance, kept by triggers.';

CREATE FUNCTION competition_closure_insert() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO competition_closure (ancestor_id, descendant_id, depth)
    SELECT above.ancestor_id, NEW.id, above.depth + 1
      FROM competition_closure above
     WHERE above.descendant_id = NEW.parent_id
    UNION ALL
    SELECT NEW.id, NEW.id, 0;
    RETURN NULL;
END $$;
COMMENT ON FUNCTION competition_closure_insert IS 'A new node has its parent''s ancestors, one further away, and itself.';

CREATE FUNCTION competition_closure_move() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    -- Two moves at once could close a circle that neither sees.
    LOCK TABLE competition_closure IN SHARE ROW EXCLUSIVE MODE;
    IF EXISTS (SELECT FROM competition_closure WHERE ancestor_id = NEW.id AND descendant_id = NEW.parent_id) THEN
        RAISE EXCEPTION 'competition % cannot move below itself', NEW.code USING ERRCODE = 'integrity_constraint_violation';
    END IF;
    DELETE FROM competition_closure link
     USING competition_closure below, competition_closure above
     WHERE below.ancestor_id = NEW.id
       AND above.descendant_id = NEW.id AND above.ancestor_id <> NEW.id
       AND link.ancestor_id = above.ancestor_id AND link.descendant_id = below.descendant_id;
    INSERT INTO competition_closure (ancestor_id, descendant_id, depth)
    SELECT above.ancestor_id, below.descendant_id, above.depth + below.depth + 1
      FROM competition_closure above, competition_closure below
     WHERE above.descendant_id = NEW.parent_id AND below.ancestor_id = NEW.id;
    RETURN NULL;
END $$;
COMMENT ON FUNCTION competition_closure_move IS
    'Cuts a moved subtree from its old ancestors and hangs it under the new ones; a circle is refused.';

CREATE TRIGGER competition_closure_insert AFTER INSERT ON competition
    FOR EACH ROW EXECUTE FUNCTION competition_closure_insert();
CREATE TRIGGER competition_closure_move AFTER UPDATE OF parent_id ON competition
    FOR EACH ROW WHEN (OLD.parent_id IS DISTINCT FROM NEW.parent_id) EXECUTE FUNCTION competition_closure_move();

CREATE TABLE venue (
    id         uuid PRIMARY KEY,
    code       varchar(64)  NOT NULL UNIQUE,
    name       varchar(256) NOT NULL,
    city       varchar(256),
    country    char(3) CHECK (country ~ '^[A-Z]{3}$'),
    timezone   varchar(64),
    meta       jsonb        NOT NULL DEFAULT '{}',
    created_at timestamptz  NOT NULL DEFAULT now()
);
COMMENT ON TABLE venue IS 'A ground. Its time zone says which day a match''s first day is.';

CREATE TABLE participant (
    id             uuid PRIMARY KEY,
    sport_id       uuid REFERENCES sport (id),
    code           varchar(64)  NOT NULL,
    type           varchar(32)  NOT NULL,
    name           varchar(256) NOT NULL,
    country        char(3) CHECK (country ~ '^[A-Z]{3}$'),
    meta           jsonb        NOT NULL DEFAULT '{}',
    identity_hash  text UNIQUE,
    merged_into_id uuid REFERENCES participant (id),
    created_at     timestamptz  NOT NULL DEFAULT now(),
    updated_at     timestamptz  NOT NULL DEFAULT now(),
    UNIQUE (sport_id, code),
    CHECK (merged_into_id <> id)
);
CREATE UNIQUE INDEX uq_participant_code_no_sport ON participant (code) WHERE sport_id IS NULL;
COMMENT ON TABLE participant IS
    'A party: person, team, pair, horse, crew, country. Without a sport it is seen by every sport.';
COMMENT ON COLUMN participant.merged_into_id IS 'The surviving record of a duplicate; old references go on working.';

CREATE TABLE participant_sport (
    participant_id uuid NOT NULL REFERENCES participant (id) ON DELETE CASCADE,
    sport_id       uuid NOT NULL REFERENCES sport (id) ON DELETE CASCADE,
    PRIMARY KEY (participant_id, sport_id)
);
COMMENT ON TABLE participant_sport IS 'Which sports see a participant; no rows means every sport.';

CREATE TABLE external_id_map (
    id          uuid PRIMARY KEY,
    source_code varchar(64)  NOT NULL,
    entity_type varchar(32)  NOT NULL,
    external_id varchar(256) NOT NULL,
    internal_id uuid         NOT NULL,
    origin      varchar(16),
    created_by  varchar(256),
    created_at  timestamptz  NOT NULL DEFAULT now(),
    UNIQUE (source_code, entity_type, external_id)
);
CREATE INDEX ix_external_id_map_internal ON external_id_map (entity_type, internal_id);
COMMENT ON TABLE external_id_map IS 'Their id is our id. internal_id points at the table that entity_type names.';

CREATE TABLE fixture (
    id                         uuid PRIMARY KEY,
    sport_id                   uuid         NOT NULL REFERENCES sport (id),
    competition_id             uuid REFERENCES competition (id),
    venue_id                   uuid REFERENCES venue (id),
    code                       varchar(64)  NOT NULL,
    name                       varchar(256),
    archetype                  varchar(32)  NOT NULL,
    fixture_type               varchar(64),
    format_code                varchar(64),
    scoring_mode               varchar(16),
    status                     varchar(32)  NOT NULL DEFAULT 'SCHEDULED',
    results_official           boolean      NOT NULL DEFAULT false,
    coverage_tier              varchar(32)  NOT NULL DEFAULT 'LIVE',
    scheduled_start            timestamptz,
    first_day                  date         NOT NULL,
    format                     jsonb        NOT NULL DEFAULT '{}',
    meta                       jsonb        NOT NULL DEFAULT '{}',
    result                     jsonb,
    pinned                     jsonb        NOT NULL DEFAULT '[]',
    last_seq                   bigint       NOT NULL DEFAULT 0,
    version                    integer      NOT NULL DEFAULT 0,
    scoring_program_version_id uuid REFERENCES scoring_program_version (id),
    merged_into_id             uuid REFERENCES fixture (id),
    created_at                 timestamptz  NOT NULL DEFAULT now(),
    updated_at                 timestamptz  NOT NULL DEFAULT now(),
    UNIQUE (sport_id, code)
) WITH (fillfactor = 50);
CREATE INDEX ix_fixture_code ON fixture (code);
CREATE INDEX ix_fixture_competition ON fixture (competition_id);
CREATE INDEX ix_fixture_status ON fixture (status, id);
COMMENT ON TABLE fixture IS 'A match. Its row is the match''s lock: every commit takes it FOR NO KEY UPDATE.';
COMMENT ON COLUMN fixture.last_seq IS 'Position counter of the match''s log.';
COMMENT ON COLUMN fixture.first_day IS 'The first day at the venue; occurred_on of every line. Fixed by match.open.';
COMMENT ON COLUMN fixture.scoring_mode IS 'events or scorecard, over what the competition says.';
COMMENT ON COLUMN fixture.pinned IS 'Fields a person set by hand; an import leaves them alone.';
COMMENT ON COLUMN fixture.scoring_program_version_id IS 'The rules this match is pinned to.';

CREATE TABLE fixture_competitor (
    id                uuid PRIMARY KEY,
    fixture_id        uuid         NOT NULL REFERENCES fixture (id),
    participant_id    uuid REFERENCES participant (id),
    placeholder_label varchar(128),
    parent_id         uuid,
    key               varchar(64),
    name              varchar(256),
    ordinal           integer,
    slot              varchar(64),
    alignment         varchar(16),
    result_status     varchar(32)  NOT NULL DEFAULT 'ENTERED',
    status_code       varchar(64),
    rank              integer,
    win_method        varchar(64),
    entry             jsonb        NOT NULL DEFAULT '{}',
    result            jsonb        NOT NULL DEFAULT '{}',
    pinned            jsonb        NOT NULL DEFAULT '[]',
    created_at        timestamptz  NOT NULL DEFAULT now(),
    updated_at        timestamptz  NOT NULL DEFAULT now(),
    CONSTRAINT participant_xor_placeholder CHECK ((participant_id IS NULL) <> (placeholder_label IS NULL)),
    CONSTRAINT uq_fixture_competitor_key UNIQUE (fixture_id, key),
    CONSTRAINT uq_fixture_competitor_fixture UNIQUE (fixture_id, id),
    CONSTRAINT nested_in_same_fixture FOREIGN KEY (fixture_id, parent_id) REFERENCES fixture_competitor (fixture_id, id)
);
CREATE INDEX ix_fixture_competitor_participant ON fixture_competitor (participant_id);
CREATE INDEX ix_fixture_competitor_ordinal ON fixture_competitor (fixture_id, parent_id, ordinal);
COMMENT ON TABLE fixture_competitor IS
    'Who takes part: sides on top, players below their side, always of the same match. '
    'Rank 1 won; equal ranks drew or tied.';
COMMENT ON COLUMN fixture_competitor.key IS 'The match-local key the log speaks of; a rename or merge never touches it.';
COMMENT ON COLUMN fixture_competitor.name IS 'The name on this match''s sheet.';

CREATE TABLE ledger_stream (
    id           uuid PRIMARY KEY,
    subject_kind varchar(16) NOT NULL,
    subject_id   uuid        NOT NULL,
    last_seq     bigint      NOT NULL DEFAULT 0,
    created_at   timestamptz NOT NULL DEFAULT now(),
    UNIQUE (subject_kind, subject_id),
    CONSTRAINT fixture_stream_has_its_id CHECK (subject_kind <> 'fixture' OR subject_id = id)
);
COMMENT ON TABLE ledger_stream IS
    'One ordered log per subject (fixture, event). A fixture''s stream has the fixture''s id and counts in fixture.last_seq.';

CREATE TABLE timeline_item (
    id              bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
    stream_id       uuid         NOT NULL,
    seq             bigint       NOT NULL,
    epoch           bigint       NOT NULL DEFAULT 1,
    unit            varchar(16)  NOT NULL DEFAULT 'event',
    event_type      varchar(64)  NOT NULL,
    payload         json         NOT NULL,
    override        text[]       NOT NULL DEFAULT '{}',
    supersedes_id   bigint REFERENCES timeline_item (id),
    idempotency_key uuid,
    actor           varchar(256) NOT NULL,
    device          varchar(64),
    source_code     varchar(64),
    sent_at         timestamptz,
    received_at     timestamptz  NOT NULL,
    created_at      timestamptz  NOT NULL DEFAULT now(),
    state_hash      bytea,
    emits           text[]       NOT NULL DEFAULT '{}',
    warnings        json         NOT NULL DEFAULT '[]',
    lines_before    json         NOT NULL DEFAULT '[]',
    CONSTRAINT uq_timeline_item_stream_seq UNIQUE (stream_id, seq),
    CONSTRAINT uq_timeline_item_idempotency UNIQUE (stream_id, idempotency_key)
);
COMMENT ON TABLE timeline_item IS
    'The log, append-only: the truth from which all else is derived. A correction is a new row.';
COMMENT ON COLUMN timeline_item.epoch IS 'The match''s epoch after this row; it rises when the past was changed.';
COMMENT ON COLUMN timeline_item.payload IS 'The command''s canonical input; of match.open the opening.';
COMMENT ON COLUMN timeline_item.override IS 'Refusals the scorer passed over on the umpire''s word.';
COMMENT ON COLUMN timeline_item.idempotency_key IS 'The command''s id, made by the client.';
COMMENT ON COLUMN timeline_item.actor IS 'The account that sent it.';
COMMENT ON COLUMN timeline_item.source_code IS 'The provider it came from, where it came from one.';
COMMENT ON COLUMN timeline_item.state_hash IS 'sha256 of the canonical state after it.';
COMMENT ON COLUMN timeline_item.lines_before IS
    'The lines it changed as they were: [{participant, role, segment, values or null}].';

COMMENT ON COLUMN timeline_item.stream_id IS
    'The ledger stream. Not a foreign key: checking it would lock the stream''s row once per event. Rows are '
    'written under the lock of the stream''s subject, and a stream cannot be removed.';

CREATE FUNCTION timeline_item_is_append_only() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'the log is append-only: % of % refused; write a new row that corrects it', TG_OP, TG_TABLE_NAME
        USING ERRCODE = 'restrict_violation';
END $$;
COMMENT ON FUNCTION timeline_item_is_append_only IS 'Refuses every change of the log, whoever asks.';
CREATE TRIGGER timeline_item_is_append_only BEFORE UPDATE OR DELETE ON timeline_item
    FOR EACH ROW EXECUTE FUNCTION timeline_item_is_append_only();
CREATE TRIGGER timeline_item_is_never_emptied BEFORE TRUNCATE ON timeline_item
    FOR EACH STATEMENT EXECUTE FUNCTION timeline_item_is_append_only();

CREATE TRIGGER ledger_stream_stays BEFORE DELETE ON ledger_stream
    FOR EACH ROW EXECUTE FUNCTION timeline_item_is_append_only();

CREATE TABLE scoreboard (
    fixture_id uuid PRIMARY KEY REFERENCES fixture (id),
    snapshot   json        NOT NULL,
    summary    json        NOT NULL,
    last_seq   bigint      NOT NULL,
    events_seq bigint      NOT NULL,
    position   bigint      NOT NULL,
    epoch      bigint      NOT NULL,
    rules_id   uuid        NOT NULL REFERENCES scoring_program_version (id),
    code_sha   varchar(64) NOT NULL,
    state_hash bytea       NOT NULL,
    updated_at timestamptz NOT NULL DEFAULT now()
)
-- Two versions of a row fit on a page, so an update stays on it: no index is touched, no page is added. What is
-- larger than half a page is compressed, what is smaller is not: compressing costs more than the bytes.
WITH (fillfactor = 50, toast_tuple_target = 4000);
COMMENT ON TABLE scoreboard IS 'The saved state of a match: the next event starts from it. Derived from the log.';
COMMENT ON COLUMN scoreboard.snapshot IS 'The canonical state, byte for byte what state_hash is of.';
COMMENT ON COLUMN scoreboard.events_seq IS 'The newest seq that changed the state; what a sender saw is measured against it.';
COMMENT ON COLUMN scoreboard.position IS 'Events folded into the state: its place in the effective log.';

CREATE TABLE scoring_checkpoint (
    fixture_id uuid        NOT NULL REFERENCES fixture (id),
    epoch      bigint      NOT NULL,
    position   bigint      NOT NULL,
    seq        bigint      NOT NULL,
    code_sha   varchar(64) NOT NULL,
    state      json        NOT NULL,
    state_hash bytea       NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (fixture_id, epoch, position)
);
COMMENT ON TABLE scoring_checkpoint IS
    'The state at every 50th event; a replay starts from one made by its own code.';

CREATE TABLE stat_value (
    fixture_id     uuid        NOT NULL REFERENCES fixture (id),
    subject_id     uuid        NOT NULL REFERENCES participant (id),
    subject_role   varchar(64) NOT NULL,
    segment        varchar(64) NOT NULL,
    occurred_on    date        NOT NULL,
    sport_id       uuid        NOT NULL,
    competition_id uuid,
    format_code    varchar(64),
    computed       json,
    pinned         jsonb,
    last_seq       bigint      NOT NULL,
    updated_at     timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT uq_stat_value_line PRIMARY KEY (fixture_id, subject_id, subject_role, segment, occurred_on)
) PARTITION BY RANGE (occurred_on);
CREATE INDEX ix_stat_value_subject ON stat_value (subject_id);
CREATE INDEX ix_stat_value_competition ON stat_value (competition_id);
COMMENT ON TABLE stat_value IS
    'A line: the numbers of a subject in a match, by role and segment. Readers see pinned over computed. '
    'Sport, competition and format are copied from the match, so a season is read without a join.';
COMMENT ON COLUMN stat_value.computed IS 'Canonical values as the sport computed them.';
COMMENT ON COLUMN stat_value.pinned IS 'Values set by hand; an import never overwrites them.';

DO $$
BEGIN
    FOR year IN 2000..2040 LOOP
        EXECUTE format(
            'CREATE TABLE stat_value_%s PARTITION OF stat_value FOR VALUES FROM (%L) TO (%L) WITH (fillfactor = 80)',
            year, make_date(year, 1, 1), make_date(year + 1, 1, 1));
    END LOOP;
    CREATE TABLE stat_value_other PARTITION OF stat_value DEFAULT WITH (fillfactor = 80);
END $$;

CREATE TABLE published_document (
    fixture_id uuid        NOT NULL REFERENCES fixture (id),
    segment    varchar(64) NOT NULL,
    body       json        NOT NULL,
    last_seq   bigint      NOT NULL,
    epoch      bigint      NOT NULL,
    updated_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (fixture_id, segment)
) WITH (fillfactor = 50, toast_tuple_target = 4000);
COMMENT ON TABLE published_document IS
    'The match document readers read, in parts: the head under segment '''' and one part per segment.';

CREATE TABLE domain_event (
    fixture_id uuid        NOT NULL,
    seq        bigint      NOT NULL,
    epoch      bigint      NOT NULL,
    event_type varchar(64) NOT NULL,
    emits      text[]      NOT NULL DEFAULT '{}',
    created_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (fixture_id, seq)
);
COMMENT ON TABLE domain_event IS
    'The outbox: a note per log row, read per match by its gap-free seq and removed once everybody has it.';

CREATE TABLE delivery_cursor (
    subscriber varchar(64) NOT NULL,
    fixture_id uuid        NOT NULL REFERENCES fixture (id),
    seq        bigint      NOT NULL,
    updated_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (subscriber, fixture_id)
);
COMMENT ON TABLE delivery_cursor IS 'How far a subscriber of the outbox has a match.';

CREATE TABLE token (
    id         uuid PRIMARY KEY,
    hash       bytea        NOT NULL UNIQUE,
    role       varchar(32)  NOT NULL,
    account    varchar(256) NOT NULL,
    fixture_id uuid REFERENCES fixture (id),
    created_at timestamptz  NOT NULL DEFAULT now(),
    expires_at timestamptz,
    revoked_at timestamptz,
    CHECK (octet_length(hash) = 32)
);
COMMENT ON TABLE token IS 'Bearer tokens by their sha256; the token itself is never stored. No match means every match.';
