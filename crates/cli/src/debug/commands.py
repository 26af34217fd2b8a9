import gdb

for setting in ("pagination off", "confirm off", "print thread-events off", "breakpoint pending on"):
    gdb.execute("set " + setting)
gdb.execute("handle SIGSYS nostop noprint pass")
gdb.execute("handle SIGILL nostop noprint pass")


def step_text(number):
    """What a step does, by its number, from 1."""
    idx = number - 1 - N_DROPPED
    if 0 <= idx < len(STEPS):
        return "T%d %s" % (STEPS[idx][0], STEPS[idx][1])
    return "?"


def last_step():
    return N_DROPPED + len(STEPS)


class Place:
    """Where the execution is: before this step."""

    step = 0


def show_program():
    """Selects the program's own frame, not one of the runtime."""
    frame = gdb.selected_frame()
    while frame is not None:
        name = gdb.solib_name(frame.pc()) or ""
        if "libraddle_rt" not in name:
            frame.select()
            return
        frame = frame.older()


def name_threads():
    """Calls gdb's threads as reports do. They are numbered in the order of creation, from 1."""
    inferior = gdb.selected_inferior()
    me = gdb.selected_thread()
    if me is None or me.num - 1 != int(gdb.parse_and_eval("$rsi")):
        return
    for thread in inferior.threads():
        thread.name = THREADS.get(str(thread.num - 1), thread.name)


def go_to(step):
    """Goes on until a step is about to be done."""
    gdb.execute("with language c -- tbreak *raddle_about_to_step if $rdi == %d" % step, to_string=True)
    gdb.execute("continue", to_string=True)
    try:
        is_there = gdb.selected_inferior().pid != 0 and int(gdb.parse_and_eval("$rdi")) == step
    except gdb.error:
        is_there = False
    if not is_there:
        gdb.write("raddle: step %d was not reached\n" % step)
        return
    Place.step = step
    name_threads()
    show_program()
    gdb.write("raddle: before step %d of %d: %s\n" % (step, last_step(), step_text(step)))
    gdb.execute("frame")


def switches():
    """Steps that another thread does than the one before."""
    pairs = range(1, len(STEPS))
    return [N_DROPPED + idx + 1 for idx in pairs if STEPS[idx][0] != STEPS[idx - 1][0]]


class NextSwitch(gdb.Command):
    """Continue to the next thread switch."""

    def __init__(self):
        super().__init__("next-switch", gdb.COMMAND_RUNNING)

    def invoke(self, argument, from_tty):
        later = [step for step in switches() if Place.step < step]
        if not later:
            gdb.write("raddle: no thread switch after step %d\n" % Place.step)
            return
        go_to(later[0])


class PrevSwitch(gdb.Command):
    """Go back to the previous thread switch, by replaying the schedule from the start."""

    def __init__(self):
        super().__init__("prev-switch", gdb.COMMAND_RUNNING)

    def invoke(self, argument, from_tty):
        if PID:
            gdb.write("raddle: prev-switch is not available through MI; use raddle debug in a terminal\n")
            return
        earlier = [step for step in switches() if step < Place.step]
        step = earlier[-1] if earlier else 1
        with open(AGAIN, "w") as file:
            file.write("%d\n" % step)
        gdb.execute("kill")
        gdb.execute("quit")


class Raddle(gdb.Command):
    """Show Raddle's information about the execution."""

    def __init__(self):
        super().__init__("raddle", gdb.COMMAND_STATUS, prefix=True)


class RaddleThreads(gdb.Command):
    """Show the last and the next step of each thread."""

    def __init__(self):
        super().__init__("raddle threads", gdb.COMMAND_STATUS)

    def invoke(self, argument, from_tty):
        for thread in sorted({step[0] for step in STEPS}):
            numbers = [N_DROPPED + idx + 1 for idx, step in enumerate(STEPS) if step[0] == thread]
            done = [number for number in numbers if number < Place.step]
            left = [number for number in numbers if Place.step <= number]
            last = "step %d, %s" % (done[-1], STEPS[done[-1] - 1 - N_DROPPED][1]) if done else "nothing"
            next = "step %d, %s" % (left[0], STEPS[left[0] - 1 - N_DROPPED][1]) if left else "nothing"
            mark = "*" if left and left[0] == Place.step else " "
            gdb.write("%s T%d  last: %s  next: %s\n" % (mark, thread, last, next))


def start():
    # The frame is one of the runtime, which is Rust.
    gdb.execute("with language c -- set var *(int *)&RADDLE_DEBUGGER_IS_THERE = 1")
    gdb.write(BANNER)
    go_to(AT)


class RaddleStart(gdb.Command):
    """Attach to the execution and go to the step: what an editor asks for once it listens."""

    def __init__(self):
        super().__init__("raddle start", gdb.COMMAND_RUNNING)

    def invoke(self, argument, from_tty):
        gdb.execute("attach %d" % PID, to_string=True)
        start()


NextSwitch()
PrevSwitch()
Raddle()
RaddleThreads()
if PID:
    RaddleStart()
else:
    start()
