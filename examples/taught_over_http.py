"""A robot on a grid is taught over HTTP, by somebody who only ever says where it went.

The robot is a program of its own: it knows squares and moves, and nothing of words. Whenever it
is told to go somewhere it asks the classroom which of its paths to take, takes it, and somebody
who saw where it ended up says so. After some hundred sentences it goes where it is told.

Run against a service that is up (tellback teach) with its address as an argument; without one,
the example starts a service of its own.
"""

import random
import socket
import sys
import tempfile
import threading
import time
from contextlib import contextmanager

from tellback.agents import EpsilonGreedy
from tellback.classroom.client import Client

SIDE = 5
PLACES = {
    (0, 0): "the charger",
    (4, 0): "the door",
    (0, 4): "the window",
    (4, 4): "the shelf",
    (2, 2): "the table",
}
WORDINGS = ("it went to {}", "ended up at {}", "drove over to {}", "now it stands at {}")
REQUESTS = ("go to {}", "drive to {}", "please move to {}")


class Robot:
    """Knows squares and moves, and nothing of words."""

    def __init__(self, rng):
        self.rng = rng
        self.square = (2, 2)

    def paths(self):
        """Five places it could go to now, one of each kind of place, as features."""
        goals = list(PLACES)
        self.rng.shuffle(goals)
        return goals, [self.features(goal) for goal in goals]

    def features(self, goal):
        x, y = goal
        length = abs(x - self.square[0]) + abs(y - self.square[1])
        return [x / (SIDE - 1), y / (SIDE - 1), length / (2 * SIDE)]


def asked_for(rng):
    """Where somebody wants the robot to be, and how they say so."""
    goal = rng.choice(list(PLACES))
    return goal, rng.choice(REQUESTS).format(PLACES[goal])


def success(lesson, seed, requests=50):
    """How many of some requests, none of which is taught, the robot would meet."""
    rng = random.Random(seed)
    robot, met = Robot(rng), 0
    for _ in range(requests):
        goal, request = asked_for(rng)
        goals, features = robot.paths()
        met += goals[lesson.preview(request, features=features).response] == goal
        robot.square = rng.choice(list(PLACES))
    return met


def teach(lesson, rounds, rng):
    """Let the robot try, and say where it went: never whether that was right."""
    robot = Robot(rng)
    for _ in range(rounds):
        _, request = asked_for(rng)
        goals, features = robot.paths()
        round = lesson.ask(request, features=features)
        robot.square = goals[round.response]
        round.describe(rng.choice(WORDINGS).format(PLACES[robot.square]))


@contextmanager
def own_service():
    """A service of our own, for as long as the example runs."""
    import uvicorn

    from tellback.classroom.settings import Settings
    from tellback.classroom.web.app import create_app

    with tempfile.TemporaryDirectory() as folder, socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        settings = Settings(f"sqlite:///{folder}/robot.db", accounts=False, requests_a_minute=0)
        server = uvicorn.Server(uvicorn.Config(create_app(settings), log_level="warning"))
        thread = threading.Thread(target=server.run, args=([listening],))
        thread.start()
        while not server.started:
            time.sleep(0.05)
        try:
            yield f"http://127.0.0.1:{listening.getsockname()[1]}"
        finally:
            server.should_exit = True
            thread.join()


def main(url):
    """Teach the robot, and print how well it does what it is told."""
    with Client(url) as client:
        # A robot that never tries anything new never hears of places it does not go to.
        lesson = client.create_lesson("robot", dim=3, agent=EpsilonGreedy(epsilon=0.2))
        rng = random.Random(1)
        described = 0
        print(f"described   0: {success(lesson, seed=2)} of 50 requests met (chance: 10)")
        for more in (25, 25, 50):
            teach(lesson, more, rng)
            described += more
            print(f"described {described:3}: {success(lesson, seed=2)} of 50 requests met")
        sentence = "could you go to the window"
        goals, features = Robot(rng).paths()
        preview = lesson.preview(sentence, features=features)
        print(f"{sentence!r}: it would go to {PLACES[goals[preview.response]]}. {preview.says}")


if __name__ == "__main__":
    if len(sys.argv) > 1:
        main(sys.argv[1])
    else:
        with own_service() as address:
            main(address)
