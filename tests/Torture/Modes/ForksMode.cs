using Treepie.Storage;
using Treepie.Storage.Simulation;
using Treepie.Torture.Models;
using Treepie.Torture.Runs;

namespace Treepie.Torture.Modes;

/// <summary>
/// Copies the directory of an encrypted environment, as a backup, a disk snapshot or a cloned machine does, and continues on
/// both copies, with different writes under the same numbers of transactions, pages and frames. No nonce may be used twice
/// under one key in either of them, even across crashes and recoveries.
/// </summary>
internal sealed class ForksMode(Bases bases) : IMode
{
    public const string ModeName = "forks";

    private const int Copies = 3;
    private const int OtherSeed = 500_000;

    private static readonly ExplorerShape _shape = new()
    {
        AllUpTo = 4,
        Drawn = 1,
        IsTelling = false,
        MomentPercent = 15,
        ThoroughPercent = 20
    };

    public string Name => ModeName;

    public long Pieces => long.MaxValue;

    public bool IsEncrypted(long piece) => true;

    public void Run(long piece, Tally tally)
    {
        var seals = new NonceRecorder();
        for (int copy = 0; copy < Copies; copy++)
        {
            Scenario scenario = Make(unchecked((int)piece), copy);
            try
            {
                new SimulatedRun(scenario, _shape, tally, seals: seals).Run();
            }
            catch (TortureFailure failure)
            {
                throw new TortureFailure(
                    failure.Message, [$"In copy {copy} of an encrypted environment:", .. scenario.Tell(), .. failure.Story],
                    failure);
            }
        }
    }

    /// <summary>The scenario of a copy: the same steps as the other copies', with different values and random numbers.</summary>
    private Scenario Make(int seed, int copy)
    {
        var random = new Random(seed);
        var steps = new List<Step>();
        int count = random.Next(3, 12);
        for (int i = 0; i < count; i++)
        {
            int version = unchecked((seed * 31) + (copy * OtherSeed) + i);
            steps.Add(random.Next(10) switch
            {
                < 6 => Step.Write(
                    new Change(
                        ChangeKind.Put, random.Next(2), random.Next(6), 1, random.Next(6) == 0 ? 12_000 : 50 + random.Next(900),
                        version),
                    new Change(ChangeKind.Fill, 0, random.Next(200), random.Next(30), 100, version)),
                6 or 7 => new Step(StepKind.Checkpoint),
                8 => new Step(StepKind.Rotate, random.Next(3)),
                _ => random.Next(2) == 0 ? new Step(StepKind.Crash, random.Next(12)) : new Step(StepKind.Reopen),
            });
        }

        var scenario = new Scenario
        {
            Seed = unchecked(seed + (copy * OtherSeed)),
            Clients = [steps],
            IsEncrypted = true,
            MapsSeeWrites = random.Next(2) == 0,
            Options = Scenario.SmallOptions with { Durability = random.Next(4) == 0 ? Durability.Relaxed : Durability.Durable },
        };
        return bases.Begin(scenario, 1 + random.Next(Bases.Count - 1));
    }
}
