using Treepie.Storage;
using Treepie.Storage.Simulation;
using Treepie.Torture.Models;
using Treepie.Torture.Runs;

namespace Treepie.Torture.Modes;

/// <summary>
/// One call of the disk fails, once or from then on: the first of its kind in a run, then the second, and so on to the last. What the run is
/// follows from the piece, and of which kind.
/// </summary>
internal sealed class FailingCallsMode(Bases bases) : IMode
{
    /// <summary>Of the calls of one kind in a run, so many fail in their turn; spread where there are more.</summary>
    private const int MaxCalls = 24;

    private static readonly ExplorerShape _shape = new() { AllUpTo = 8, Drawn = 3, IsTelling = true, MomentPercent = 30, ThoroughPercent = 5 };
    private static readonly DiskOperation[] _kinds = Enum.GetValues<DiskOperation>();

    public string Name => "failing-calls";

    public long Pieces => long.MaxValue;

    public void Run(long piece, Tally tally)
    {
        DiskOperation kind = _kinds[(int)(piece % _kinds.Length)];
        bool isForever = piece / _kinds.Length % 2 == 1;
        Scenario scenario = Make(unchecked((int)(piece / _kinds.Length / 2)));
        var whole = new SimulatedRun(scenario, new ExplorerShape { MomentPercent = 0 }, tally);
        whole.Run();
        int calls = whole.Count(kind);
        var random = new Random(unchecked((int)piece));
        for (int at = 0; at < Math.Min(calls, MaxCalls); at++)
        {
            int number = calls <= MaxCalls ? at : random.Next(calls);
            Scenario failing = scenario with { Fault = new DiskFault(kind, number, isForever, MarksClean: (number + piece) % 3 != 0) };
            try
            {
                new SimulatedRun(failing, _shape, tally).Run();
            }
            catch (TortureFailure failure)
            {
                throw failure.In(failing, _shape);
            }
        }
    }

    private Scenario Make(int seed)
    {
        var random = new Random(seed);
        var steps = new List<Step>();
        int count = random.Next(4, 14);
        for (int i = 0; i < count; i++)
        {
            steps.Add(random.Next(10) switch
            {
                < 6 => Step.Write(
                    new Change(ChangeKind.Put, random.Next(2), random.Next(6), 1, random.Next(6) == 0 ? 12_000 : random.Next(900), i),
                    new Change(ChangeKind.Fill, 0, random.Next(200), random.Next(60), 100, i),
                    new Change(ChangeKind.Delete, 0, random.Next(200))),
                6 => Step.Throw(new Change(ChangeKind.Fill, 0, random.Next(200), 40, 90, i)),
                < 9 => new Step(StepKind.Checkpoint),
                _ => random.Next(2) == 0 ? new Step(StepKind.Hold, i) : new Step(StepKind.Reopen),
            });
        }

        var scenario = new Scenario
        {
            Seed = seed,
            Clients = [steps],
            MapsSeeWrites = random.Next(2) == 0,
            Options = Scenario.SmallOptions with { Durability = random.Next(5) == 0 ? Durability.Relaxed : Durability.Durable },
        };
        return bases.Begin(scenario, random.Next(Bases.Count));
    }
}
