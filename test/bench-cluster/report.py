"""What was measured, beside the targets."""
import statistics
import sys


class Report:
    """Prints a line for each figure; `missed` counts the targets that are."""

    def __init__(self, pods, judge=True):
        self.missed, self.judge = 0, judge
        self.memory_most = 8 * 1024 + 2 * pods  # KB

    def line(self, what, measured, target="", met=True):
        met = met or not self.judge
        self.missed += not met
        print(f"  {what:<34} {measured:>16}  {target}{'' if met else '  MISSED'}")
        sys.stdout.flush()

    def speed(self, operator, generator):
        mine, plain = median(operator, "seconds"), median(generator, "seconds")
        rate = median(generator, "rate")
        self.line("operator", f"{mine:.2f} s")
        self.line("generator", f"{plain:.2f} s")
        self.line("generator's rate", f"{rate:.0f} a second", "≥ 600", rate >= 600)
        self.line("operator / generator", f"{mine / plain:.2f}", "≤ 1.2", mine <= 1.2 * plain)

    def memory(self, operator):
        most = self.memory_most
        for what, key in (("RssAnon with all children", "anon"), ("  its peak", "peak"),
                          ("  its peak after a restart", "restart_peak")):
            value = median(operator, key)
            self.line(what, f"{value / 1024:.1f} MB", f"≤ {most / 1024:.1f} MB", value <= most)
        self.line("whole RSS", f"{median(operator, 'rss') / 1024:.1f} MB")
        self.line("CPU of the operator", f"{median(operator, 'cpu'):.2f} s")
        self.line("  of its restart", f"{median(operator, 'restart_cpu'):.2f} s")

    def fairness(self, waits, seconds):
        most = statistics.quantiles(waits, n=100)[98]
        self.line("the large ones took", f"{seconds:.1f} s")
        self.line("a small job to its last pod", f"{len(waits)} times")
        self.line("  p50", f"{1000 * statistics.median(waits):.0f} ms")
        self.line("  p99", f"{1000 * most:.0f} ms", "≤ 2000 ms", most <= 2)

    def latency(self, waits):
        self.line("a pod's change to the next request", f"{len(waits)} times")
        self.line("  p50", f"{1000 * statistics.median(waits):.1f} ms")
        self.line("  p99", f"{1000 * statistics.quantiles(waits, n=100)[98]:.1f} ms")


def median(rows, key):
    return statistics.median(r[key] for r in rows)
