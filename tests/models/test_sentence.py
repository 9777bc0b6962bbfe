"""The model of sentences: what it estimates, how it learns, what it keeps, and agents with it."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice, pairwise, product
from typing import Any

import numpy as np
import pytest
from scipy import stats

from tellback import Facts, Listed, Round, check, play, rounds
from tellback.agents import LORIL, AgentSpec, EpsilonGreedy, Greedy, Uniform
from tellback.encoders import Thumbnail
from tellback.errors import SettingError
from tellback.models import Mixture, Sentence
from tellback.models.gru import next_word
from tellback.models.gru_weights import Sizes, views
from tellback.models.sentence import SCORED_AT_ONCE, SentenceModel
from tellback.models.training import draw_batch
from tellback.models.words import BEGIN, END, LONGEST, words
from tellback.roles import State
from tellback.worlds import Images, Synthetic
from tellback.worlds.sentences import sentences
from tests.support.sentence_models import (
    DIM,
    SAID,
    WORLD,
    assert_same_state,
    estimated,
    new_model,
    some_lessons,
    some_responses,
    taught,
    teach,
)

pytestmark = pytest.mark.usefixtures("one_thread")


def weights_in(state: State, model: Sentence, dim: int = DIM) -> Any:
    """The weights of a saved state, each in its shape; changing them changes the state."""
    sizes = Sizes(int(state["vocabulary"]), model.embedding, model.hidden, model.layers, dim)
    flat: Any = state["weights"]
    return views(flat, sizes)


# What it promises and what it refuses.


def test_it_keeps_the_promises_of_a_model() -> None:
    report = check(Sentence(steps=2), world=WORLD)
    assert report, str(report)


def test_a_world_with_a_table_of_instructions_is_refused_with_the_reason() -> None:
    with pytest.raises(SettingError, match=r"sentence needs instructions in words.*table of 7"):
        play(Synthetic(instructions=7, responses=4, rank=3), Greedy(model=Sentence()), 3)


def test_a_model_of_tables_is_refused_where_instructions_are_sentences() -> None:
    with pytest.raises(SettingError, match="needs a table of instructions"):
        play(WORLD, Greedy(model=Mixture()), 3)


@pytest.mark.parametrize("what", [3, None, 2.5, ["a"], b"a red square"], ids=repr)
def test_what_is_no_sentence_is_refused_and_changes_nothing(what: Any) -> None:
    model = taught(some_lessons(3), steps=1)
    before = model.state()
    with pytest.raises(SettingError, match="must be a sentence, not"):
        model.estimates(what, some_responses())
    with pytest.raises(SettingError, match="must be a sentence, not"):
        model.learn(np.zeros(DIM), what)
    assert_same_state(model.state(), before)


@pytest.mark.parametrize(
    "features",
    [
        np.zeros(DIM + 1),
        np.zeros(DIM - 1),
        np.zeros((1, DIM)),
        np.full(DIM, np.nan),
        [np.inf] * 3,
        np.full(DIM, 1e39),
    ],
    ids=repr,
)
def test_features_that_do_not_fit_are_refused_and_change_nothing(features: Any) -> None:
    model = taught(some_lessons(3), steps=1)
    before = model.state()
    with pytest.raises(SettingError, match="3 finite real numbers"):
        model.learn(features, "quite another sentence")
    assert_same_state(model.state(), before)


def test_responses_of_another_size_are_refused() -> None:
    with pytest.raises(SettingError, match="built for 3 features; here are 5"):
        new_model().estimates("A red square", some_responses(dim=5))


def test_training_for_less_than_no_steps_is_refused() -> None:
    model = taught(some_lessons(3), steps=1)
    with pytest.raises(SettingError, match="steps must be at least 0"):
        model.train(-3)


def test_training_before_the_first_description_is_refused() -> None:
    with pytest.raises(SettingError, match="nothing to train on"):
        new_model().train(1)


SETTINGS = ("hidden", "embedding", "layers", "steps", "batch", "learning_rate", "vocabulary")
WRONG = [
    (name, value)
    for name, value in product(SETTINGS, [0, -1, 2.5, "ten", None, True, float("nan")])
    if (name, value) not in [("steps", 0), ("learning_rate", 2.5)]
]


@pytest.mark.parametrize(("name", "value"), WRONG)
def test_settings_that_make_no_sense_are_refused_by_name(name: str, value: Any) -> None:
    with pytest.raises(SettingError, match=rf"{name} must be .*, not {value!r}"):
        Sentence(**{name: value})


def test_there_must_be_room_for_a_word_beside_the_marks() -> None:
    assert Sentence(vocabulary=3).vocabulary == 3
    with pytest.raises(SettingError, match="vocabulary must be at least 3, not 2"):
        Sentence(vocabulary=2)


# Estimates.


def test_estimates_are_probabilities_over_sentences() -> None:
    for model in (new_model(), taught(some_lessons(20), steps=20, learning_rate=0.01)):
        found = estimated(model)
        assert found.dtype == np.float64
        assert (found > 0).all()
        assert (found.sum(axis=0) <= 1 + 1e-6).all()


def test_estimating_changes_nothing() -> None:
    lessons = some_lessons(12)
    asked, spared = new_model(steps=3), new_model(steps=3)
    for features, sentence in lessons:
        asked.learn(features, sentence)
        spared.learn(features, sentence)
        estimated(asked, (*SAID, "something that nobody said", ""))
        asked.speak(features, np.random.default_rng(1))
    assert_same_state(asked.state(), spared.state())


def test_case_and_white_space_do_not_matter() -> None:
    model = taught(some_lessons(10), steps=5)
    one, other = estimated(model, ("A red  square", "a RED square"))
    np.testing.assert_array_equal(one, other)


def test_a_word_that_was_never_said_is_estimated_as_the_free_row_it_would_take() -> None:
    model = taught(some_lessons(10), steps=20, learning_rate=0.02)
    before = model.state()
    unsaid = estimated(model, ("A purple square",))
    assert (unsaid > 0).all()
    np.testing.assert_array_equal(unsaid, estimated(model, ("A mauve square",)))
    assert_same_state(model.state(), before)


def test_a_sentence_with_more_unsaid_words_than_free_rows_is_impossible() -> None:
    model = taught([(np.zeros(DIM), "one two three")], vocabulary=7)  # rows 5 and 6 are free
    assert (estimated(model, ("four five", "four five four one", "six")) > 0).all()
    impossible = estimated(model, ("four five six", "one four two five three six"))
    np.testing.assert_array_equal(impossible, np.zeros_like(impossible))
    full = taught([(np.zeros(DIM), "one two three")], vocabulary=5)
    assert (estimated(full, ("three two", "")) > 0).all()
    np.testing.assert_array_equal(estimated(full, ("four",)), np.zeros((1, 6)))


@pytest.mark.parametrize("number", [1, SCORED_AT_ONCE, SCORED_AT_ONCE + 1, 3 * SCORED_AT_ONCE - 5])
def test_many_responses_are_estimated_as_few_are(number: int) -> None:
    torch = pytest.importorskip("torch")
    from benchmarks.torch_sentence import TorchSentence, TorchSentenceModel

    spec = Sentence(hidden=6, embedding=5, vocabulary=20)
    model = taught(some_lessons(10), steps=20, learning_rate=0.02)
    responses = some_responses(number)
    oracle = TorchSentenceModel(TorchSentence(hidden=6, embedding=5, vocabulary=20), DIM).double()
    oracle.take(weights_in(model.state(), spec))
    rows = model._vocabulary.look_up(SAID[1])
    with torch.no_grad():
        exact = oracle.log_likelihoods(torch.tensor(responses.matrix), [rows] * number).numpy()
    found = model.estimates(SAID[1], responses)
    assert found.shape == (number,)
    np.testing.assert_allclose(np.log(found), exact, rtol=1e-5)


# Learning.


def test_a_whole_run_is_that_of_pytorch_on_the_same_batches() -> None:
    torch = pytest.importorskip("torch")
    from benchmarks.torch_sentence import TorchSentence, TorchSentenceModel

    spec = Sentence(hidden=7, embedding=4, steps=20, batch=9, learning_rate=0.005, vocabulary=18)
    model = spec.build(Facts(DIM, None), np.random.default_rng(4))
    start: Any = model.state()
    theirs = TorchSentence(hidden=7, embedding=4, batch=9, learning_rate=0.005, vocabulary=18)
    oracle = TorchSentenceModel(theirs, DIM).double()
    oracle.take(weights_in(start, spec))
    step = 0
    lessons = some_lessons(12, seed=5)
    for features, sentence in lessons:
        model.learn(features, sentence)
        # The network takes features in single precision.
        seen = torch.tensor(features.astype(np.float32), dtype=torch.float64)
        oracle.history.append((seen, oracle.words.learn(sentence)))
        for _ in range(20):
            places = np.arange(len(oracle.history), dtype=np.int64)
            drawn = [oracle.history[i] for i in draw_batch(start["key"], step, 9, places)]
            oracle.step(torch.stack([g for g, _ in drawn]), [rows for _, rows in drawn])
            step += 1
    assert model.state()["steps"] == step == 240
    responses = some_responses()
    seen = torch.tensor(responses.matrix.astype(np.float32), dtype=torch.float64)
    for sentence in (*SAID, "A red circle", "square", ""):
        with torch.no_grad():
            rows = oracle.words.look_up(sentence)
            exact = oracle.log_likelihoods(seen, [rows] * len(responses)).numpy()
        found = np.log(model.estimates(sentence, responses))
        np.testing.assert_allclose(found, exact, rtol=0, atol=1e-4, err_msg=sentence)
    # It did learn on the way, so that there was something to compare.
    assert model.log_likelihood() > taught(lessons, seed=4).log_likelihood() + 50


def test_the_log_likelihood_is_the_sum_over_all_descriptions() -> None:
    lessons = some_lessons(40)
    model = taught([*lessons, (np.zeros(DIM), "")], steps=2, learning_rate=0.01)
    one_by_one = sum(
        float(np.log(model.estimates(sentence, Listed(features[None]))[0]))
        for features, sentence in [*lessons, (np.zeros(DIM), "")]
    )
    assert model.log_likelihood() == pytest.approx(one_by_one, rel=1e-6)
    assert model.described == 41


@pytest.mark.parametrize("seed", range(3))
def test_learning_raises_the_likelihood(seed: int) -> None:
    model = taught(some_lessons(30, seed=seed), seed=seed, learning_rate=0.01)
    seen = [model.log_likelihood()]
    for _ in range(4):
        model.train(60)
        seen.append(model.log_likelihood())
    assert all(later > before for before, later in pairwise(seen))


def test_it_learns_what_is_said_of_what() -> None:
    red, blue = np.array([1.0, 0, 0]), np.array([0, 1.0, 0])
    lessons = [(red, "A red square"), (red, "It is red."), (blue, "A blue circle")] * 10
    model = taught(lessons, learning_rate=0.02, steps=10)
    both = Listed([red, blue])
    expected = {"A red square": (0.5, 0), "It is red.": (0.5, 0), "A blue circle": (0, 1)}
    for sentence, probabilities in expected.items():
        np.testing.assert_allclose(model.estimates(sentence, both), probabilities, atol=0.1)
    # A description weighs as often as it came.
    teach(model, [(red, "It is red.")] * 60)
    often, rare = (float(model.estimates(s, both)[0]) for s in ("It is red.", "A red square"))
    assert often == pytest.approx(7 / 8, abs=0.1)
    assert rare == pytest.approx(1 / 8, abs=0.1)


def test_the_mean_loss_of_the_last_batch_is_returned() -> None:
    features = np.array([1.0, 2, 3])
    model = taught([(features, "A red square")], learning_rate=1e-6)
    before = -model.log_likelihood()
    assert model.train(1) == pytest.approx(before, rel=1e-5)
    assert model.train(3) == pytest.approx(-model.log_likelihood(), rel=1e-3)


def test_another_seed_is_another_network_and_the_same_one_the_same() -> None:
    one, same, other = (
        estimated(taught(some_lessons(5), seed=seed, steps=5)) for seed in (1, 1, 2)
    )
    np.testing.assert_array_equal(one, same)
    assert not np.isclose(one, other, rtol=1e-3, atol=0).any()


# Words beyond the room that there was.


def grown() -> tuple[SentenceModel, State, State]:
    """A trained model whose rows are all taken, before and after it hears of three new words."""
    spec: dict[str, Any] = {"vocabulary": 6, "learning_rate": 0.02}
    lessons = [(np.eye(DIM)[0], "a red one"), (np.eye(DIM)[1], "one is red")]
    model = taught(lessons, **spec)
    model.train(150)
    before = model.state()
    model.learn(np.eye(DIM)[2], "a large blue sea")
    return model, before, model.state()


def test_a_new_word_gets_a_row_and_what_was_learned_stays() -> None:
    _, before, after = grown()
    assert (before["vocabulary"], after["vocabulary"]) == (6, 9)
    spec = Sentence(hidden=6, embedding=5)
    for name in ("weights", "first_moment", "second_moment"):
        old = weights_in({**before, "weights": before[name]}, spec)
        new = weights_in({**after, "weights": after[name]}, spec)
        for part, narrow in old._asdict().items():
            wide = getattr(new, part)
            kept = wide[tuple(slice(size) for size in narrow.shape)]
            np.testing.assert_array_equal(kept, narrow, err_msg=f"{name} of {part}")
            if part in ("embedding", "word", "word_bias"):
                drawn = wide[6:]
                assert (drawn != 0).all() if name == "weights" else (drawn == 0).all()
            else:
                assert wide.shape == narrow.shape
    # The new rows are drawn as first weights are, not all alike.
    rows = weights_in(after, spec).word[6:]
    assert len(np.unique(rows)) == rows.size
    assert np.abs(rows).max() <= 1 / np.sqrt(6) + 1e-6


def test_known_words_keep_their_odds_when_the_vocabulary_grows() -> None:
    _, before, after = grown()
    spec = Sentence(hidden=6, embedding=5)
    column = np.eye(DIM, dtype=np.float32)[:, :1].copy()
    for begun in ([], [2], [2, 3], [4, 5, 3]):
        rows = np.array(begun, dtype=np.int64)
        old, new = (next_word(weights_in(s, spec), column, rows) for s in (before, after))
        assert (len(old), len(new)) == (6, 9)
        assert new[6:].sum() > 1e-4
        np.testing.assert_allclose(new[:6] / new[:6].sum(), old, rtol=2e-6)


def test_learning_goes_on_after_the_vocabulary_has_grown() -> None:
    model, _, _ = grown()
    third = Listed(np.eye(DIM)[2:])
    before = float(model.estimates("a large blue sea", third)[0])
    model.train(300)
    assert float(model.estimates("a large blue sea", third)[0]) > max(0.5, 10 * before)
    assert float(model.estimates("a red one", Listed(np.eye(DIM)[:1]))[0]) > 0.5


def test_room_from_the_start_and_room_made_later_learn_alike() -> None:
    """Which rows are there before they are needed does not matter to what can be learned."""
    lessons = [(np.eye(DIM)[i % 3], SAID[i % 3]) for i in range(30)]
    for vocabulary in (3, 40):
        model = taught(lessons, vocabulary=vocabulary, steps=15, learning_rate=0.02)
        assert model.log_likelihood() > 30 * np.log(0.8)


# Speech.


def made_to_say(model: SentenceModel, likely: dict[int, float], spec: Sentence) -> SentenceModel:
    """The same model, with other biases of some rows."""
    state = {name: np.array(value) for name, value in model.state().items()}
    bias = weights_in(state, spec).word_bias
    for row, value in likely.items():
        bias[row] = value
    plain = {name: value.item() if value.ndim == 0 else value for name, value in state.items()}
    model.restore(plain)
    return model


def test_speech_follows_from_the_generator() -> None:
    model = taught(some_lessons(20), steps=10, learning_rate=0.02)
    g = np.ones(DIM)
    said = [[model.speak(g, np.random.default_rng(s)) for s in range(20)] for _ in range(2)]
    assert said[0] == said[1]
    assert len(set(said[0])) > 1
    rng = np.random.default_rng(0)
    assert model.speak(g, rng) == said[0][0]
    assert any(model.speak(g, rng) != said[0][0] for _ in range(20)), "the generator goes on"


def test_sentences_are_spoken_as_often_as_the_model_estimates() -> None:
    g = np.array([1.0, -1.0, 0.5])
    lessons = [(g, "A red one"), (g, "Red"), (g, "Red"), (g, "It is red.")] * 5
    model = taught(lessons, steps=10, learning_rate=0.02)
    rng = np.random.default_rng(1)
    number = 1500
    spoken = [model.speak(g, rng) for _ in range(number)]
    heard = 0
    for sentence in ("A red one", "Red", "It is red."):
        (chance,) = model.estimates(sentence, Listed(g[None]))
        often = spoken.count(sentence.lower())
        heard += often
        assert stats.binomtest(often, number, float(chance)).pvalue > 1e-4, sentence
    assert heard > 0.8 * number


def test_it_never_speaks_for_longer_than_it_may() -> None:
    spec = Sentence(hidden=6, embedding=5)
    model = made_to_say(taught(some_lessons(5)), {END: -60.0}, spec)
    for seed in range(3):
        assert len(model.speak(np.zeros(DIM), np.random.default_rng(seed)).split()) <= LONGEST
    # Without punctuation, which is no word of its own when it is spelled.
    plain = taught([(np.zeros(DIM), "one two three")], vocabulary=5)
    model = made_to_say(plain, {END: -60.0}, spec)
    assert len(model.speak(np.zeros(DIM), np.random.default_rng(0)).split()) == LONGEST


def test_before_it_was_taught_it_speaks_in_blanks() -> None:
    model = taught([])
    for seed in range(50):
        said = model.speak(np.zeros(DIM), np.random.default_rng(seed))
        assert set(said.split()) <= {"_"}


def test_it_does_not_speak_of_features_of_another_size() -> None:
    with pytest.raises(SettingError, match="3 finite real numbers"):
        taught(some_lessons(2)).speak(np.zeros(1), np.random.default_rng(0))


def test_any_text_that_was_told_can_be_saved() -> None:
    model = taught([(np.zeros(DIM), "half a pair: \ud800")])
    again = taught([])
    again.restore(model.state())
    assert_same_state(again.state(), model.state())


def test_it_may_say_nothing() -> None:
    spec = Sentence(hidden=6, embedding=5)
    model = made_to_say(taught(some_lessons(5)), {END: 60.0}, spec)
    assert model.speak(np.zeros(DIM), np.random.default_rng(0)) == ""


def test_rows_that_have_no_word_yet_are_spoken_as_blanks() -> None:
    spec = Sentence(hidden=6, embedding=5)
    model = taught([(np.zeros(DIM), "red blue")], vocabulary=9)
    made_to_say(model, {BEGIN: 60.0}, spec)  # no sentence begins in its midst
    rng = np.random.default_rng(0)
    said = {word for _ in range(50) for word in model.speak(np.zeros(DIM), rng).split()}
    assert said == {"red", "blue", "_"}


# Agents in the world of pictures.


@pytest.mark.parametrize(
    "spec",
    [
        LORIL(model=Sentence()),
        Greedy(model=Sentence()),
        EpsilonGreedy(0.2, model=Sentence()),
        Uniform(),
    ],
    ids=lambda spec: spec.kind,
)
@pytest.mark.parametrize("variant", ["canon", "free"])
def test_the_agents_play_with_pictures_unchanged(spec: AgentSpec, variant: str) -> None:
    run = play(Images(variant, encoder=Thumbnail(2)), spec, 12, seed=1)
    assert (run.regrets >= 0).all()
    assert all(isinstance(told, str) for told in run.descriptions)
    agent: Any = run.agent
    if not isinstance(spec, Uniform):
        assert isinstance(agent.model, SentenceModel)
        assert agent.model.described == 12
        assert ((run.estimates > 0) & (run.estimates < 1)).all()
    if isinstance(spec, LORIL):
        assert (run.bonuses > 0).all()


def outcome(played: list[Round], agent: Any) -> list[Any]:
    """All that a run gave, and what its model came to estimate, to the bit."""
    task = played[0].task
    asked = sentences("circle", "red")
    return [
        [(one.choice.response, one.choice.estimate, one.regret) for one in played],
        [agent.model.estimates(x, task.responses).tobytes() for x in asked],
        agent.model.state()["weights"].tobytes(),
    ]


def test_a_run_does_not_depend_on_those_beside_it() -> None:
    model = Sentence(steps=3, hidden=6, learning_rate=0.01)
    specs: list[tuple[AgentSpec, int]] = [
        (Greedy(model=model), 1),
        (LORIL(model=model.with_settings({"hidden": 5, "batch": 8})), 2),
    ]
    number = 25

    def build(spec: AgentSpec, seed: int) -> tuple[Any, Iterator[Round]]:
        agent = spec.build(WORLD.facts, np.random.default_rng(seed))
        return agent, rounds(WORLD, agent, seed=seed)

    alone = []
    for spec, seed in specs:
        agent, played = build(spec, seed)
        alone.append(outcome(list(islice(played, number)), agent))
    begun = [build(spec, seed) for spec, seed in specs]
    together: list[list[Round]] = [[], []]
    for _ in range(number):
        for (_, played), kept in zip(begun, together, strict=True):
            kept.append(next(played))
    for (agent, _), kept, right in zip(begun, together, alone, strict=True):
        assert outcome(kept, agent) == right
    assert alone[0] != alone[1]


def test_greedy_learns_to_do_as_it_is_asked() -> None:
    regret = {}
    for spec in (Greedy(model=Sentence(hidden=16, learning_rate=0.01, steps=8)), Uniform()):
        runs = [play(WORLD, spec, 300, seed=seed) for seed in (0, 1)]
        regret[spec.kind] = np.mean([run.regrets[-100:].sum() for run in runs])
    assert regret["greedy"] < 0.65 * regret["uniform"]


def test_the_words_of_the_world_are_the_words_of_the_model() -> None:
    agent: Any = play(WORLD, EpsilonGreedy(1.0, model=Sentence(steps=0)), 200, seed=0).agent
    content = agent.model.state()["words"].tobytes().decode().split("\n")
    every = {
        w
        for kind, colour in WORLD.gallery.objects
        for w in words(" ".join(sentences(kind, colour)))
    }
    assert set(content) == every
