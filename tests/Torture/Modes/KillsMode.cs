using System.Collections.Concurrent;
using Treepie.Storage;
using Treepie.Torture.Models;
using Treepie.Torture.Runs;

namespace Treepie.Torture.Modes;

/// <summary>
/// A process is killed at each disk operation of a short run in turn, another one continues with what the first left in the
/// system's cache, and the power fails at every moment of that. Nothing may depend on data that was never synced, even if
/// more was built on it.
/// </summary>
internal sealed class KillsMode(Bases bases) : IMode
{
    public const string ModeName = "kills";

    /// <summary>
    /// Number of syncs of a run that are the last operation in turn, spread if there are more: a process killed during a
    /// sync leaves most in the system's cache. In one piece in four it is any operation.
    /// </summary>
    private const int KillsOfLife = 24;

    // Room for two frames, so that the first frame of a use is often the last one written.
    private const int SmallJournalBytes = 16 << 10;

    private static readonly ExplorerShape _shape = new()
    {
        AllUpTo = 8,
        Drawn = 1,
        IsTelling = true,
        ThoroughPercent = 2,
        IsAfterTroubleOnly = true
    };

    private readonly ConcurrentDictionary<int, int[]> _syncs = new();

    public string Name => ModeName;

    public long Pieces => long.MaxValue;

    public bool IsEncrypted(long piece) => IsEncrypted(new Random(Life(piece)));

    public void Run(long piece, Tally tally)
    {
        // Early pieces cover early and late kills of many runs.
        int slot = (int)((piece + (piece / KillsOfLife)) % KillsOfLife);
        int life = Life(piece);
        int[] syncs = _syncs.GetOrAdd(life, _ => FindSyncs(Make(life, killAfter: -1), tally));
        int number = syncs.Length <= KillsOfLife ? slot : slot * syncs.Length / KillsOfLife;
        if (number >= syncs.Length)
            return;

        int killAfter = piece % 4 == 3 ? number * syncs[^1] / syncs.Length : syncs[number];
        Scenario scenario = Make(life, killAfter);
        try
        {
            new SimulatedRun(scenario, _shape, tally).Run();
        }
        catch (TortureFailure failure)
        {
            throw failure.In(scenario, _shape);
        }
    }

    private static int Life(long piece) =>
        unchecked((int)((piece / KillsOfLife / KillsOfLife * KillsOfLife) + (piece % KillsOfLife)));

    /// <summary>Must be the first draw of a run.</summary>
    private static bool IsEncrypted(Random random) => random.Next(2) == 0;

    private static int[] FindSyncs(Scenario scenario, Tally tally)
    {
        var run = new SimulatedRun(scenario, new ExplorerShape { MomentPercent = 0 }, tally);
        run.Run();
        return [.. run.Syncs];
    }

    /// <summary>
    /// The run that is killed, and what the next process does. With a negative number, only the first run, not killed.
    /// </summary>
    private Scenario Make(int life, int killAfter)
    {
        var random = new Random(life);
        var steps = new List<Step>();
        bool isEncrypted = IsEncrypted(random);
        Add(steps, random, random.Next(1, 4), isEncrypted);
        if (killAfter >= 0)
        {
            steps.Insert(0, new Step(StepKind.Kill, killAfter));
            if (random.Next(4) > 0)
                // On recovered data only, and with nothing to write if the killed process had got far enough.
                steps.Add(
                    new Step(
                        random.Next(isEncrypted ? 4 : 2) switch
                        {
                            0 => StepKind.Checkpoint,
                            1 => StepKind.Shrink,
                            2 =>
                            StepKind.Rotate,
                            _ => StepKind.ChangeKey
                        }));
            if (random.Next(3) == 0)
            {
                Add(steps, random, 1, isEncrypted);
                steps.Add(new Step(StepKind.Kill, random.Next(8)));
            }

            Add(steps, random, random.Next(2, 5), isEncrypted);
            steps.Add(new Step(StepKind.Checkpoint));
        }

        var scenario = new Scenario
        {
            Seed = life,
            Clients = [steps],
            IsEncrypted = isEncrypted,
            MapsSeeWrites = random.Next(2) == 0,
            WritesDirectly = (life & 4) != 0,
            Options = Scenario.SmallOptions with
            {
                Durability = random.Next(3) == 0 ? Durability.Relaxed : Durability.Durable,
                FirstJournalFileBytes = SmallJournalBytes,
                MaxJournalFileBytes = random.Next(2) == 0 ? SmallJournalBytes : 4 * SmallJournalBytes,
            },
        };
        return bases.Begin(scenario, random.Next(Bases.Count));
    }

    private static void Add(List<Step> steps, Random random, int count, bool isEncrypted)
    {
        for (int i = 0; i < count; i++)
        {
            steps.Add(random.Next(isEncrypted ? 8 : 6) switch
            {
                7 => new Step(StepKind.Rotate, random.Next(4)),
                6 => new Step(StepKind.ChangeKey),
                < 4 => Step.Write(
                    new Change(
                        ChangeKind.Put, random.Next(2), random.Next(6), 1, random.Next(8) == 0 ? 9000 : random.Next(400),
                        random.Next(1_000_000)),
                    new Change(
                        random.Next(3) == 0 ? ChangeKind.Clear : ChangeKind.Fill, 0, 100 + random.Next(60), random.Next(30), 60,
                        random.Next(1_000_000))),
                4 => new Step(StepKind.Checkpoint),
                _ => new Step(random.Next(2) == 0 ? StepKind.Reopen : StepKind.Checkpoint),
            });
        }
    }
}
