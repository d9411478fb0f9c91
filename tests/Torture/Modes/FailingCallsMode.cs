using System.Collections.Concurrent;
using Treepie.Storage;
using Treepie.Storage.Simulation;
using Treepie.Torture.Models;
using Treepie.Torture.Runs;

namespace Treepie.Torture.Modes;

/// <summary>
/// The disk is full, or one call of it fails, once or from then on: the first of its kind in a run, then the second, and so on to
/// the last. What the run is follows from the piece, and of which kind.
/// </summary>
internal sealed class FailingCallsMode(Bases bases) : IMode
{
    public const string ModeName = "failing-calls";

    /// <summary>Of the calls of one kind in a run, so many fail in their turn; spread where there are more.</summary>
    private const int CallsOfKind = 24;

    private const long FillStepBytes = 2048;

    /// <summary>
    /// Every other time the room ends near what is there at first, at a journal file more or less; a new store has so much.
    /// </summary>
    private const long FineStepBytes = 4096;
    private const long FirstDataBytes = 256 << 10;

    /// <summary>
    /// Of three pieces one goes on in another process, which finds what a failed sync left readable: the first is killed so many
    /// changes later, or fewer.
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
    /// Which call fails, from piece to piece, and of which file; null: the disk is full. What safety hangs on comes more often
    /// than what is only read.
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
    /// The kind changes fastest, then whether it fails once or for good, then workload and call together, so that early pieces
    /// have early and late calls of many workloads; all calls of a workload have had their turn after a square of pieces.
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
                    KillAfter: turn % 3 == 1 ? (int)(turn / 3 % KillsAfter) : -1)
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

    /// <summary>The how manieth a piece is of those in which the same kind fails.</summary>
    private static long Turn(long piece)
    {
        int place = (int)(piece % _turns.Length);
        (DiskOperation Kind, bool? OfData)? turnOf = _turns[place];
        return (piece / _turns.Length / 2 * _turns.Count(other => other == turnOf))
            + _turns.Take(place).Count(other => other == turnOf);
    }

    private static int Workload(long turn) =>
        unchecked((int)((turn / CallsOfKind / CallsOfKind * CallsOfKind) + (turn % CallsOfKind)));

    /// <summary>The first of what a workload draws.</summary>
    private static bool IsEncrypted(Random random) => random.Next(2) == 0;

    /// <summary>How many there are of a call where none fails.</summary>
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
