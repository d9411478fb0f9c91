using System.Collections.Concurrent;
using Treepie.Storage;
using Treepie.Storage.Simulation;
using Treepie.Torture.Models;
using Treepie.Torture.Runs;

namespace Treepie.Torture.Modes;

/// <summary>
/// The disk is full, or one call fails, once or from then on: the first of its kind in a run, then the second, and so on to
/// the last. The piece determines the run and the kind of call.
/// </summary>
internal sealed class FailingCallsMode(Bases bases) : IMode
{
    public const string ModeName = "failing-calls";

    /// <summary>Number of calls of one kind in a run that fail in turn; spread over all calls if there are more.</summary>
    private const int CallsOfKind = 24;

    private const long FillStepBytes = 2048;

    /// <summary>
    /// In every other piece the capacity is close to the initial size, in steps that decide about one journal file; a new
    /// store has <see cref="FirstDataBytes"/>.
    /// </summary>
    private const long FineStepBytes = 4096;
    private const long FirstDataBytes = 256 << 10;

    /// <summary>
    /// One piece in three continues in another process, which finds data that a failed sync left readable. The first process
    /// is killed after fewer than this many changes following the failure.
    /// </summary>
    private const int KillsAfter = 4;

    private static readonly ExplorerShape _shape = new()
    {
        AllUpTo = 8,
        Drawn = 3,
        IsTelling = true,
        MomentPercent = 60,
        ThoroughPercent = 5,
        IsAfterTroubleOnly = true
    };
    /// <summary>
    /// Which call fails in which piece, and on which file; null: the disk is full. Calls that durability depends on are more
    /// frequent than those that only read.
    /// </summary>
    private static readonly (DiskOperation Kind, bool? OfData)?[] _turns =
    [
        (DiskOperation.Sync, true), null, (DiskOperation.Write, true), (DiskOperation.Sync, false),
        (DiskOperation.Allocate, null), (DiskOperation.Create, null), (DiskOperation.Sync, true),
        (DiskOperation.SyncDirectory, null),
        null, (DiskOperation.Sync, false), (DiskOperation.Load, null), (DiskOperation.Write, false), (DiskOperation.Rename, null),
        (DiskOperation.Delete, null), (DiskOperation.Read, null), (DiskOperation.Open, null), (DiskOperation.Truncate, null),
    ];

    private readonly ConcurrentDictionary<(int Workload, DiskOperation Kind, bool? OfData), int> _calls = new();

    public string Name => ModeName;

    public long Pieces => long.MaxValue;

    public bool IsEncrypted(long piece) => IsEncrypted(new Random(Workload(Turn(piece))));

    /// <summary>
    /// The kind changes fastest, then whether it fails once or permanently, then workload and call together, so that early
    /// pieces cover early and late calls of many workloads. All calls of a workload are covered after a quadratic number of
    /// pieces.
    /// </summary>
    public void Run(long piece, Tally tally)
    {
        (DiskOperation Kind, bool? OfData)? turnOf = _turns[(int)(piece % _turns.Length)];
        bool isForever = piece / _turns.Length % 2 == 1;
        long turn = Turn(piece);
        int slot = (int)((turn + (turn / CallsOfKind)) % CallsOfKind);
        int workload = Workload(turn);
        Scenario scenario = Make(workload);
        if (turnOf is not { } failing)
        {
            long begin = Math.Max(FirstDataBytes, scenario.Start.Files.Values.Sum(content => content.Length));
            scenario = scenario with { CapacityBytes = begin + (isForever ? slot * slot * FillStepBytes : slot * FineStepBytes) };
        }
        else
        {
            int calls = Calls(workload, scenario, failing.Kind, failing.OfData, tally);
            int number = calls <= CallsOfKind ? slot : slot * calls / CallsOfKind;
            if (number >= calls)
                return;
            scenario = scenario with
            {
                Fault = new DiskFault(
                    failing.Kind, number, isForever, MarksClean: turn % 3 != 0, failing.OfData,
                    KillAfter: turn % 3 == 1 ? (int)(turn / 3 % KillsAfter) : -1,
                    IsFull: turn % 4 == 3 && failing.Kind is DiskOperation.Write or DiskOperation.Sync)
            };
        }

        try
        {
            new SimulatedRun(scenario, _shape, tally).Run();
        }
        catch (TortureFailure failure)
        {
            throw failure.In(scenario, _shape);
        }
    }

    /// <summary>The index of a piece among those in which the same kind fails.</summary>
    private static long Turn(long piece)
    {
        int place = (int)(piece % _turns.Length);
        (DiskOperation Kind, bool? OfData)? turnOf = _turns[place];
        return (piece / _turns.Length / 2 * _turns.Count(other => other == turnOf))
            + _turns.Take(place).Count(other => other == turnOf);
    }

    private static int Workload(long turn) =>
        unchecked((int)((turn / CallsOfKind / CallsOfKind * CallsOfKind) + (turn % CallsOfKind)));

    /// <summary>Must be the first draw of a workload.</summary>
    private static bool IsEncrypted(Random random) => random.Next(2) == 0;

    /// <summary>Number of calls of a kind if none fails.</summary>
    private int Calls(int workload, Scenario scenario, DiskOperation kind, bool? ofData, Tally tally)
    {
        if (_calls.TryGetValue((workload, kind, ofData), out int known))
            return known;

        var run = new SimulatedRun(scenario, new ExplorerShape { MomentPercent = 0 }, tally);
        run.Run();
        foreach ((DiskOperation Kind, bool? OfData) turn in _turns.OfType<(DiskOperation, bool?)>())
            _calls[(workload, turn.Kind, turn.OfData)] = turn.OfData switch
            {
                true => run.CountOfData(turn.Kind),
                false =>
                run.Count(turn.Kind) - run.CountOfData(turn.Kind),
                _ => run.Count(turn.Kind)
            };
        return _calls[(workload, kind, ofData)];
    }

    private Scenario Make(int seed)
    {
        var random = new Random(seed);
        var steps = new List<Step>();
        bool isEncrypted = IsEncrypted(random);
        int count = random.Next(4, 14);
        for (int i = 0; i < count; i++)
        {
            steps.Add(random.Next(isEncrypted ? 12 : 10) switch
            {
                11 => new Step(StepKind.Rotate, random.Next(4)),
                10 => new Step(StepKind.ChangeKey),
                < 6 => Step.Write(
                    new Change(
                        ChangeKind.Put, random.Next(2), random.Next(6), 1, random.Next(6) == 0 ? 12_000 : random.Next(900), i),
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
            IsEncrypted = isEncrypted,
            PagesPerBitmap = Scenario.GroupOf(seed),
            MapsSeeWrites = random.Next(2) == 0,
            WritesDirectly = (seed & 4) != 0,
            Options = Scenario.SmallOptions with { Durability = random.Next(5) == 0 ? Durability.Relaxed : Durability.Durable },
        };
        return bases.Begin(scenario, random.Next(Bases.Count));
    }
}
