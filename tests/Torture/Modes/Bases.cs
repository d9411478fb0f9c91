using Treepie.Storage;
using Treepie.Storage.Format;
using Treepie.Storage.Simulation;
using Treepie.Torture.Models;
using Treepie.Torture.Runs;

namespace Treepie.Torture.Modes;

/// <summary>
/// Environments to start with, created once: new, closed cleanly after some work, and left by a crash with a journal to replay.
/// </summary>
internal sealed class Bases
{
    private readonly History _none = new(0, Model.Empty);
    private readonly Dictionary<(Durability, bool IsClean, bool IsEncrypted), (DiskImage Image, History History)> _lived = [];

    public Bases()
    {
        foreach (Durability durability in (Durability[])[Durability.Durable, Durability.Relaxed])
        {
            foreach (bool isEncrypted in (bool[])[false, true])
            {
                _lived.Add((durability, true, isEncrypted), Live(durability, isClean: true, isEncrypted));
                _lived.Add((durability, false, isEncrypted), Live(durability, isClean: false, isEncrypted));
            }
        }
    }

    /// <summary>Number of kinds.</summary>
    public static int Count => 3;

    /// <summary>Lets a scenario start with one of the kinds.</summary>
    public Scenario Begin(Scenario scenario, int kind)
    {
        if (kind == 0)
            return scenario;

        (DiskImage image, History history) = _lived[(scenario.Options.Durability, kind == 1, scenario.IsEncrypted)];
        return scenario with
        {
            PagesPerBitmap = FormatLimits.PagesPerBitmap,
            Start = image,
            StartModel = history.At(history.Last),
            StartTransaction = history.Last
        };
    }

    /// <summary>The history of one of the kinds.</summary>
    public History HistoryOf(Durability durability, int kind, bool isEncrypted) =>
        kind == 0 ? _none : _lived[(durability, kind == 1, isEncrypted)].History;

    /// <summary>
    /// Does enough work that journal files are in their second use, there are free pages, values on their own pages, and a
    /// tree with
    /// branches.
    /// </summary>
    private static (DiskImage Image, History History) Live(Durability durability, bool isClean, bool isEncrypted)
    {
        var steps = new List<Step>
        {
            Step.Write(new Change(ChangeKind.Fill, 0, 100, 150, 60, 1), new Change(ChangeKind.Put, 1, 1, 1, 9000, 1))
        };
        for (int i = 0; i < 24; i++)
        {
            steps.Add(
                Step.Write(
                    new Change(ChangeKind.Put, 0, 1 + (i % 3), 1, 100 + i, i),
                    new Change(ChangeKind.Put, 1, 2, 1, i % 5 == 0 ? 20_000 : 50, i)));
            if (i % 6 == 5)
                steps.Add(new Step(StepKind.Checkpoint));
        }

        steps.Add(new Step(StepKind.Reopen));
        steps.Add(Step.Write(new Change(ChangeKind.Clear, 0, 120, 60), new Change(ChangeKind.Put, 0, 1, 1, 30, 50)));
        steps.Add(new Step(StepKind.Checkpoint));
        steps.Add(Step.Write(new Change(ChangeKind.Put, 0, 2, 1, 40, 51)));
        steps.Add(Step.Write(new Change(ChangeKind.Put, 1, 3, 1, 5000, 52)));

        // A tail that continues from one use of a journal file to the next.
        for (int i = 0; i < 5; i++)
            steps.Add(
                Step.Write(
                    new Change(ChangeKind.Put, 1, 4 + i, 1, 7000, 53 + i), new Change(ChangeKind.Put, 0, 3, 1, 45, 53 + i)));
        var scenario = new Scenario
        {
            Seed = 1,
            Clients = [steps],
            IsEncrypted = isEncrypted,
            Options = Scenario.SmallOptions with { Durability = durability }
        };
        DiskImage? left = null;
        var run = new SimulatedRun(scenario, new ExplorerShape { MomentPercent = 0 }, new Tally());
        long transaction = run.RunAndStop(isClean, image => left = image);
        run.History.CutAfter(transaction);
        return (left ?? throw new InvalidOperationException("The run left nothing."), run.History);
    }
}
